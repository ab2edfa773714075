import ProfileModel
import TestSupport
import Testing

@testable import Recording

@Suite struct RunChunkTests {
    private static func run(
        _ start: Int64, _ end: Int64, _ state: ThreadState, _ core: Int32? = nil
    ) -> ScheduledRun {
        ScheduledRun(
            thread: ThreadIndex(3), start: MonotonicTime(nanoseconds: start),
            end: MonotonicTime(nanoseconds: end), state: state, core: core)
    }

    private static func read(_ chunk: RunChunk) -> [ScheduledRun]? {
        RunChunk.runs(of: chunk.thread, from: chunk.start, chunk.bytes)
    }

    @Test func theBytes() {
        var chunk = RunChunk(beginningWith: Self.run(100, 110, .running, 2))
        let areTaken = [
            chunk.append(Self.run(110, 150, .blocked)), chunk.append(Self.run(150, 151, .running)),
        ]
        #expect(areTaken == [true, true])
        // 10 ns × 4 + 0, core 2 + 1; 40 × 4 + 3 = 0x23 + 0x80 × 1; 1 × 4, no core.
        #expect(chunk.bytes == [40, 3, 0xA3, 1, 4, 0])
    }

    @Test func runsThatDoNotFollowStartAnotherChunk() {
        var chunk = RunChunk(beginningWith: Self.run(100, 110, .running, 2))
        let areTaken = [
            chunk.append(Self.run(111, 120, .blocked)), chunk.append(Self.run(109, 120, .blocked)),
        ]
        #expect(areTaken == [false, false])
        #expect(Self.read(chunk) == [Self.run(100, 110, .running, 2)])
    }

    @Test func aChunkIsBounded() {
        var chunk = RunChunk(beginningWith: Self.run(0, 1, .blocked))
        var count: Int64 = 1
        while chunk.append(Self.run(count, count + 1, .blocked)) { count += 1 }
        #expect(count == 2048)
    }

    @Test(arguments: 1...100) func everythingComesBack(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var time = Int64.random(in: 0...1 << 40, using: &random)
        let runs = (0..<50).map { _ in
            let length = Int64(1) << Int.random(in: 0...50, using: &random)
            let state = ThreadState.allCases.randomElement(using: &random) ?? .running
            let core = [nil, 0, 7, Int32.max - 1].randomElement(using: &random) ?? nil
            defer { time += length }
            return Self.run(time, time + length, state, state == .running ? core : nil)
        }
        var chunk = RunChunk(beginningWith: runs[0])
        for run in runs.dropFirst() {
            let isTaken = chunk.append(run)
            #expect(isTaken)
        }
        #expect(Self.read(chunk) == runs)
    }

    @Test(arguments: 1...200) func anyBytesDoNoHarm(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
        for count in 0...40 {
            _ = RunChunk.runs(
                of: ThreadIndex(0), from: MonotonicTime(nanoseconds: .max),
                Array(bytes.prefix(count)))
        }
    }
}
