import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// All in microseconds: a clock at 1,000 whose counters stand at 5,000 / 700.
@Suite struct ThreadClockTests {
    private static func span(_ microseconds: Int64) -> TimeSpan {
        TimeSpan(nanoseconds: microseconds * 1000)
    }

    private static func at(_ microseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: microseconds * 1000)
    }

    private static func counters(
        run: Int64 = 0, delay: Int64 = 0, timeslices: Int64 = 1
    ) -> SchedulerCounters {
        SchedulerCounters(
            run: (5000 + run) * 1000, delay: (700 + delay) * 1000, timeslices: 10 + timeslices)
    }

    private static func clock() -> ThreadClock {
        ThreadClock(time: at(1000), counters: counters(timeslices: 0))
    }

    private static func times(
        _ running: Int64 = 0, runnable: Int64 = 0, preempted: Int64 = 0, blocked: Int64 = 0
    ) -> StateTimes {
        StateTimes(
            running: span(running), runnable: span(runnable), preempted: span(preempted),
            blocked: span(blocked))
    }

    @Test func allOnTheCore() {
        var clock = Self.clock()
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 1000), isContinuous: true)
        #expect(times == Self.times(1000))
        #expect(clock.time == Self.at(2000))
        #expect(clock.counters == Self.counters(run: 1000))
    }

    /// It comes from memory that the program can write.
    @Test func aThreadsOwnClockIsBounded() {
        let clock = Self.clock()
        let now = Self.at(2000)
        #expect(clock.believable(5_400_000, at: now) == 5_400_000)
        #expect(clock.believable(4_000_000, at: now) == 5_000_000)
        #expect(clock.believable(.min, at: now) == 5_000_000)
        #expect(clock.believable(.max, at: now) == 5_000_000 + 1_000_000 + 100_000_000)
        #expect(clock.believable(.max, at: Self.at(0)) == 5_000_000 + 100_000_000)
    }

    /// The kernel's figure for a running thread lags: time that is learned too late is not lost.
    @Test func timeLearnedTooLateIsMadeUpFor() {
        var clock = Self.clock()
        let first = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 1700), isContinuous: true)
        #expect(first == Self.times(1000))
        let second = clock.advance(
            to: Self.at(2500), counters: Self.counters(run: 1700), isContinuous: true)
        #expect(second == Self.times(500))
        let third = clock.advance(
            to: Self.at(3500), counters: Self.counters(run: 2100), isContinuous: true)
        #expect(third == Self.times(600, preempted: 400))
    }

    /// The time in which a thread that never blocked did not run was taken by others: hypervisor,
    /// interrupts, us.
    @Test func stolenTimeIsPreemption() {
        var clock = Self.clock()
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 700), isContinuous: true)
        #expect(times == Self.times(700, preempted: 300))
    }

    @Test func aContinuousThreadThatWaitedWasPushedOff() {
        var clock = Self.clock()
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 600, delay: 400), isContinuous: true)
        #expect(times == Self.times(600, preempted: 400))
    }

    @Test func theRestOfAThreadThatLeftItsCoreWasBlocked() {
        var clock = Self.clock()
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 200, delay: 30), isContinuous: false)
        #expect(times == Self.times(200, runnable: 30, blocked: 770))
    }

    @Test func ourStopsAreNotBlocking() {
        var clock = Self.clock()
        clock.addHold(Self.span(100))
        clock.addHold(Self.span(50))
        clock.addHold(Self.span(-20))
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 200), isContinuous: false)
        #expect(times == Self.times(200, preempted: 150, blocked: 650))
        // Spent: the next stretch starts without any.
        let next = clock.advance(
            to: Self.at(3000), counters: Self.counters(run: 200), isContinuous: false)
        #expect(next == Self.times(blocked: 1000))
    }

    @Test func aHoldIsNoLongerThanWhatIsLeft() {
        var clock = Self.clock()
        clock.addHold(Self.span(5000))
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 900), isContinuous: false)
        #expect(times == Self.times(900, preempted: 100))
    }

    @Test func waitingIsDividedByHowTheThreadLeftItsCore() {
        func advance(voluntary: Int64, forced: Int64) -> StateTimes {
            var clock = Self.clock()
            return clock.advance(
                to: Self.at(2000), counters: Self.counters(run: 200, delay: 400),
                isContinuous: false,
                switches: SwitchCounts(voluntary: voluntary, forced: forced))
        }
        let allForced = Self.times(200, preempted: 400, blocked: 400)
        let noneForced = Self.times(200, runnable: 400, blocked: 400)
        #expect(advance(voluntary: 0, forced: 2) == allForced)
        #expect(advance(voluntary: 3, forced: 0) == noneForced)
        #expect(
            advance(voluntary: 3, forced: 1)
                == Self.times(200, runnable: 300, preempted: 100, blocked: 400))
        #expect(advance(voluntary: 0, forced: 0) == noneForced)
    }

    @Test func switchesCountFromTheLastTimeOfAsking() {
        var clock = Self.clock()
        _ = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 200, delay: 100), isContinuous: false,
            switches: SwitchCounts(voluntary: 100, forced: 7))
        let times = clock.advance(
            to: Self.at(3000), counters: Self.counters(run: 400, delay: 500), isContinuous: false,
            switches: SwitchCounts(voluntary: 101, forced: 8))
        #expect(times == Self.times(200, runnable: 200, preempted: 200, blocked: 400))
    }

    @Test func theKernelCountsOurStopsAsVoluntary() {
        var clock = Self.clock()
        clock.addHold(Self.span(40))
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 500, delay: 400), isContinuous: false,
            switches: SwitchCounts(voluntary: 1, forced: 1))
        #expect(times == Self.times(500, preempted: 440, blocked: 60))
    }

    /// The query is slow, so many looks may pass without it: their stops must be told from the
    /// thread's own switches at the next query.
    @Test func ourStopsOfEarlierLooksAreNotVoluntaryEither() {
        var clock = Self.clock()
        for look in 1...10 {
            clock.addHold(Self.span(40))
            _ = clock.advance(
                to: Self.at(1000 + 1000 * Int64(look)),
                counters: Self.counters(run: 960 * Int64(look)), isContinuous: true)
        }
        clock.addHold(Self.span(40))
        let times = clock.advance(
            to: Self.at(12_000), counters: Self.counters(run: 9600 + 560, delay: 400),
            isContinuous: true, switches: SwitchCounts(voluntary: 11, forced: 1))
        #expect(times == Self.times(560, preempted: 440))
    }

    @Test func countersOfAnotherThreadAreNotNegative() {
        var clock = Self.clock()
        let times = clock.advance(to: Self.at(2000), counters: .zero, isContinuous: false)
        #expect(times == Self.times(blocked: 1000))
        #expect(clock.counters == .zero)
    }

    @Test func runTimeThatLaggedIsNoLongerThanTheWall() {
        var clock = Self.clock()
        let times = clock.advance(
            to: Self.at(2000), counters: Self.counters(run: 4000, delay: 300), isContinuous: true)
        #expect(times == Self.times(1000))
    }

    @Test func timeDoesNotGoBack() {
        var clock = Self.clock()
        let times = clock.advance(
            to: Self.at(500), counters: Self.counters(run: 10), isContinuous: false)
        #expect(times == .zero)
        #expect(clock.time == Self.at(1000))
    }

    @Test func theStatesAlwaysAddUp() {
        var random = SeededNumbers(seed: 17)
        for _ in 0..<200 {
            var clock = ThreadClock(time: Self.at(0), counters: .zero)
            var (now, sum) = (Int64(0), TimeSpan.zero)
            for _ in 0..<50 {
                now += Int64.random(in: -100...2_000_000, using: &random)
                func figure() -> Int64 { Int64.random(in: 0...10_000_000, using: &random) }
                if Bool.random(using: &random) { clock.addHold(TimeSpan(nanoseconds: figure())) }
                let switches = SwitchCounts(voluntary: figure(), forced: figure())
                let before = clock.time
                let times = clock.advance(
                    to: MonotonicTime(nanoseconds: now),
                    counters: SchedulerCounters(
                        run: figure(), delay: figure(), timeslices: figure()),
                    isContinuous: Bool.random(using: &random),
                    switches: Bool.random(using: &random) ? switches : nil)
                #expect(times.wall == clock.time - before)
                let parts = [times.running, times.runnable, times.preempted, times.blocked]
                #expect(parts.allSatisfy { $0 >= .zero })
                sum = sum + times.wall
            }
            #expect(MonotonicTime(nanoseconds: 0) + sum == clock.time)
        }
    }
}
