import ProfileModel
import Testing

@testable import Sampler

@Suite struct BurstWatchTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 5_000_000_000) + .milliseconds(milliseconds)
    }

    @Test func aThreadAtWorkMayBeSignalled() {
        var watch = BurstWatch()
        _ = watch.approach(voluntary: 7, at: Self.time(0))
        #expect(watch.approach(voluntary: 7, at: Self.time(1)) == .signal)
    }

    /// Its count was read so late, after it was found running, that the wait was in it already: that
    /// the count has not changed since does not say that it has not waited.
    @Test func aWaitThatWasCountedTooEarly() {
        var watch = BurstWatch()
        _ = watch.approach(voluntary: 7, at: Self.time(0))
        watch.sawWait(.fragile, at: Self.time(1))
        #expect(watch.hasWaited(voluntary: 7))
        #expect(watch.approach(voluntary: 7, at: Self.time(2)) == .spare)
        #expect(watch.approach(voluntary: 7, at: Self.time(3)) == .signal)
    }

    /// Of its waits nothing is known yet; most calls survive a stop.
    @Test func anUnknownThreadIsStopped() {
        var watch = BurstWatch()
        #expect(watch.approach(voluntary: 0, at: Self.time(0)) == .stop)
        #expect(watch.approach(voluntary: 1, at: Self.time(1)) == .stop)
    }

    @Test(arguments: [
        (WaitKind.restartsAfterHandler, BurstWatch.Approach.signal),
        (.restartsAfterStop, .stop), (.fragile, .spare),
    ])
    func whatItWaitsInDecides(kind: WaitKind, approach: BurstWatch.Approach) {
        var watch = BurstWatch()
        watch.sawWait(kind, at: Self.time(0))
        #expect(watch.approach(voluntary: 1, at: Self.time(1)) == approach)
    }

    @Test func theWorstWaitIsRememberedForAWhile() {
        var watch = BurstWatch()
        watch.sawWait(.fragile, at: Self.time(0))
        watch.sawWait(.restartsAfterHandler, at: Self.time(1))
        #expect(watch.approach(voluntary: 1, at: Self.time(2)) == .spare)
        watch.sawWait(.restartsAfterHandler, at: Self.time(1000))
        #expect(watch.approach(voluntary: 2, at: Self.time(1001)) == .signal)
    }

    @Test func whatWasSeenLongAgoIsForgotten() {
        var watch = BurstWatch()
        watch.sawWait(.restartsAfterHandler, at: Self.time(0))
        #expect(watch.approach(voluntary: 1, at: Self.time(1000)) == .stop)
    }

    @Test func whoWorksMostOfTheTimeMayBeSignalled() {
        var watch = BurstWatch()
        watch.sawWait(.fragile, at: Self.time(0))
        for look in 1...BurstWatch.enoughLooks {
            #expect(!watch.isAtWork)
            _ = watch.approach(voluntary: Int64(look), at: Self.time(Int64(look)))
        }
        #expect(watch.isAtWork)
        #expect(watch.approach(voluntary: 99, at: Self.time(50)) == .signal)
        watch.sawWait(.fragile, at: Self.time(51))
        #expect(watch.approach(voluntary: 100, at: Self.time(52)) == .spare)
    }

    /// The next wait may begin between the last look at it and a stop, however long that one waited
    /// for is ago.
    @Test func whoWaitedInACallThatAStopEndsIsStoppedInItsOwnCode() {
        var watch = BurstWatch()
        for kind in [WaitKind.restartsAfterHandler, .restartsAfterStop] {
            watch.sawWait(kind, at: Self.time(0))
            #expect(!watch.hasWaitedFragile)
        }
        watch.sawWait(.fragile, at: Self.time(1))
        watch.sawWait(.restartsAfterHandler, at: Self.time(2))
        #expect(watch.approach(voluntary: 1, at: Self.time(3)) == .spare)
        #expect(watch.approach(voluntary: 1, at: Self.time(4)) == .signal)
        #expect(watch.hasWaitedFragile)
        _ = watch.approach(voluntary: 2, at: Self.time(5000))
        #expect(watch.hasWaitedFragile)
    }

    /// Work of 40 ms and a wait that a signal would end, again and again: after the first wait
    /// events do.
    @Test func whoWaitsAgainAndAgainIsLeftToEvents() {
        var watch = BurstWatch()
        var mayBeSignalled: [Bool] = []
        for cycle in 0..<50 {
            let begin = Int64(cycle) * 50
            for look in 0..<40 {
                _ = watch.approach(voluntary: Int64(cycle), at: Self.time(begin + Int64(look)))
            }
            mayBeSignalled.append(watch.isLongAtWork)
            watch.sawWait(.restartsAfterStop, at: Self.time(begin + 45))
        }
        #expect(mayBeSignalled == [true] + Array(repeating: false, count: 49))
        for look in 0..<BurstWatch.enoughLooksAgain {
            #expect(!watch.isLongAtWork)
            _ = watch.approach(voluntary: 50, at: Self.time(3000 + Int64(look)))
        }
        #expect(watch.isLongAtWork)
    }

    /// A program that computes and sleeps in turns: its sleeps are made again.
    @Test func waitsThatAreMadeAgainAreNoReasonForEvents() {
        var watch = BurstWatch()
        for cycle in 0..<4 {
            let begin = Int64(cycle) * 20
            for look in 0..<10 {
                #expect(!watch.isLongAtWork || cycle == 3 && look >= 2)
                _ = watch.approach(voluntary: Int64(cycle), at: Self.time(begin + Int64(look)))
            }
            watch.sawWait(.restartsAfterStop, isMadeAgain: true, at: Self.time(begin + 15))
        }
        #expect(watch.isLongAtWork)
        watch.sawWait(.fragile, at: Self.time(90))
        #expect(!watch.isLongAtWork)
    }

    @Test func waitsThatGoOnAreNoReasonForEvents() {
        var watch = BurstWatch()
        watch.sawWait(.restartsAfterHandler, at: Self.time(0))
        for look in 1...BurstWatch.enoughLooks {
            _ = watch.approach(voluntary: 1, at: Self.time(Int64(look)))
            if look == 20 { watch.sawWait(.restartsAfterHandler, at: Self.time(20)) }
        }
        #expect(watch.isLongAtWork)
    }

    /// Else one stop would lead to the next.
    @Test func ourOwnStopIsNoWait() {
        var watch = BurstWatch()
        _ = watch.approach(voluntary: 3, at: Self.time(0))
        watch.sawStop(voluntary: 4)
        #expect(watch.approach(voluntary: 4, at: Self.time(1)) == .signal)
    }
}
