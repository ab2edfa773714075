import ProfileModel
import Testing

@testable import Recorder

/// Slices that say nothing new are written as one, and nothing else is.
@Suite struct SliceJoinerTests {
    private static func slice(
        _ start: Int64, _ times: StateTimes, thread: Int = 0, stack: Int32? = 1,
        call: Int32? = 202, truncation: Truncation? = nil
    ) -> Slice {
        Slice(
            thread: ThreadIndex(thread), start: MonotonicTime(nanoseconds: start), times: times,
            stack: stack.map(StackID.init), systemCall: call, truncation: truncation)
    }

    private static func joined(_ slices: [Slice]) -> [Slice] {
        var joiner = SliceJoiner()
        var result: [Slice] = []
        for slice in slices { joiner.add(slice, into: &result) }
        joiner.flush(into: &result)
        return result
    }

    private static func blocked(_ span: Int64) -> StateTimes {
        StateTimes(blocked: TimeSpan(nanoseconds: span))
    }

    @Test func aWaitOfManyLooksIsOneSlice() {
        let slices = (0..<5).map { Self.slice($0 * 10, Self.blocked(10)) }
        #expect(Self.joined(slices) == [Self.slice(0, Self.blocked(50))])
    }

    @Test func waitingForACoreIsToo() {
        let times = StateTimes(runnable: TimeSpan(nanoseconds: 10))
        let pushed = StateTimes(preempted: TimeSpan(nanoseconds: 10))
        #expect(Self.joined([Self.slice(0, times), Self.slice(10, times)]).count == 1)
        #expect(Self.joined([Self.slice(0, pushed), Self.slice(10, pushed)]).count == 1)
    }

    @Test func runningSlicesAreNotJoined() {
        let times = StateTimes(running: TimeSpan(nanoseconds: 10))
        let slices = [Self.slice(0, times), Self.slice(10, times)]
        #expect(Self.joined(slices) == slices)
    }

    @Test(arguments: [
        slice(10, blocked(10), stack: 2), slice(10, blocked(10), stack: nil),
        slice(10, blocked(10), call: 0), slice(10, blocked(10), call: nil),
        slice(10, blocked(10), truncation: .stackLimit),
        // A gap, as imported recordings have them.
        slice(11, blocked(10)),
        slice(10, StateTimes(runnable: TimeSpan(nanoseconds: 10))),
        slice(10, blocked(10) + StateTimes(running: TimeSpan(nanoseconds: 1))),
    ])
    func differentSlicesAreNotJoined(next: Slice) {
        let slices = [Self.slice(0, Self.blocked(10)), next]
        #expect(Self.joined(slices) == slices)
    }

    @Test func eachThreadHasItsOwn() {
        let slices = (0..<6).map { Self.slice($0 / 2 * 10, Self.blocked(10), thread: Int($0 % 2)) }
        #expect(
            Self.joined(slices) == [
                Self.slice(0, Self.blocked(30), thread: 0),
                Self.slice(0, Self.blocked(30), thread: 1),
            ])
    }

    @Test func slicesWithoutTimeAreLeftOut() {
        #expect(Self.joined([Self.slice(0, .zero)]).isEmpty)
        #expect(
            Self.joined([
                Self.slice(0, Self.blocked(10)), Self.slice(10, .zero, stack: 7),
                Self.slice(10, Self.blocked(10)),
            ]) == [Self.slice(0, Self.blocked(20))])
    }

    @Test func afterAFlushANewOneBegins() {
        var joiner = SliceJoiner()
        var result: [Slice] = []
        joiner.add(Self.slice(0, Self.blocked(10)), into: &result)
        joiner.flush(into: &result)
        joiner.add(Self.slice(10, Self.blocked(10)), into: &result)
        joiner.flush(into: &result)
        #expect(result == [Self.slice(0, Self.blocked(10)), Self.slice(10, Self.blocked(10))])
    }
}
