import ProfileModel
import TestSupport
import Testing

@testable import Analysis

@Suite struct PartIndexTests {
    private func span(_ nanoseconds: Int64) -> TimeSpan { TimeSpan(nanoseconds: nanoseconds) }

    private func part(_ thread: Int, _ start: Int64, _ wall: Int64) -> Profile.Part {
        Profile.Part(
            phase: 0, thread: Int32(thread), line: 0, waitLine: PathTable.none, start: span(start),
            times: StateTimes(running: span(wall)))
    }

    /// The starts of the parts of a thread that it hands out, in their order.
    private func starts(
        _ parts: [Profile.Part], _ thread: Int, _ threads: Int, _ windows: TimeWindows
    ) -> [Int64] {
        var result: [Int64] = []
        let parts = PartList(parts)
        PartIndex(parts, threads: threads).forEach(of: thread, in: parts, near: windows) {
            part, position in
            #expect(parts[position].start == part.start)
            result.append(part.start.nanoseconds)
        }
        return result
    }

    /// Threads whose parts follow each other, some at once, written down in any order.
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func agreesWithGoingThroughAll(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let threads = Int.random(in: 1...4, using: &random)
        var parts: [Profile.Part] = []
        for thread in 0..<threads {
            var time = Int64.random(in: 0...5, using: &random)
            for _ in 0..<Int.random(in: 0...25, using: &random) {
                let wall = Int64.random(in: 1...6, using: &random)
                parts.append(part(thread, time, wall))
                time += wall + max(0, Int64.random(in: -3...4, using: &random))
            }
        }
        parts.shuffle(using: &random)
        let windows = TimeWindows(
            (0..<Int.random(in: 0...5, using: &random)).map { _ in
                let start = Int64.random(in: 0...90, using: &random)
                return span(start)..<span(start + Int64.random(in: 0...12, using: &random))
            })
        for thread in 0..<threads {
            let expected = parts.filter { part in
                part.thread == thread
                    && windows.ranges.contains { $0.overlaps(part.start..<part.end) }
            }.map(\.start.nanoseconds)
            #expect(starts(parts, thread, threads, windows) == expected.sorted())
        }
    }

    /// What no thread does, but a file may say.
    @Test func overlappingPartsAreAllHandedOut() {
        let parts = [part(0, 0, 100), part(1, 3, 4), part(0, 10, 5), part(0, 20, 5)]
        let windows = TimeWindows([span(50)..<span(60)])
        #expect(starts(parts, 0, 2, windows) == [0, 10, 20])
        #expect(starts(parts, 1, 2, windows) == [])
    }

    @Test func nothingAtAll() {
        #expect(starts([], 0, 1, TimeWindows([span(0)..<span(1)])) == [])
    }
}
