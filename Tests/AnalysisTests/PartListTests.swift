import ProfileModel
import TestSupport
import Testing

@testable import Analysis

@Suite struct PartListTests {
    private static func fields(_ part: Profile.Part) -> [Int64] {
        let times = ThreadState.allCases.map { part.times[$0].nanoseconds }
        return [part.phase, part.thread, part.line, part.waitLine].map(Int64.init)
            + [part.start.nanoseconds] + times
    }

    /// About where times get too long for a short row, too.
    @Test(arguments: 1...50) func everythingComesBack(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let borders = [0, 1, Int64(UInt32.max) - 1, Int64(UInt32.max), 1 << 32, 1 << 59]
        func time() -> TimeSpan {
            let isBorder = Int.random(in: 0..<4, using: &random) == 0
            let border = borders.randomElement(using: &random) ?? 0
            return TimeSpan(
                nanoseconds: isBorder ? border : Int64.random(in: 0...5_000_000, using: &random))
        }
        func number() -> Int32 { Int32.random(in: -1 ... .max, using: &random) }
        let parts = (0..<100).map { _ in
            Profile.Part(
                phase: number(), thread: number(), line: number(), waitLine: number(),
                start: time(),
                times: StateTimes(
                    running: time(), runnable: time(), preempted: time(), blocked: time()))
        }
        let list = PartList(parts)
        #expect(list.map(Self.fields) == parts.map(Self.fields))
        #expect(list.reversed().map(Self.fields) == parts.reversed().map(Self.fields))
    }

    /// No slice has such times, but none that comes may be lost.
    @Test func timesBelowZero() {
        let times = StateTimes(running: TimeSpan(nanoseconds: -1), blocked: .milliseconds(1))
        let part = Profile.Part(
            phase: 0, thread: 0, line: 0, waitLine: PathTable.none, start: .zero, times: times)
        #expect(PartList([part]).first?.times == times)
    }
}
