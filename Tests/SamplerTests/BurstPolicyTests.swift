import ProfileModel
import Testing

@testable import Sampler

@Suite struct BurstPolicyTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 5_000_000_000) + .milliseconds(milliseconds)
    }

    @Test func aThreadAtWorkMayBeSignalled() {
        var burst = BurstPolicy()
        _ = burst.approach(voluntary: 7, at: Self.time(0))
        #expect(burst.approach(voluntary: 7, at: Self.time(1)) == .signal)
    }

    /// Its count was read so late, after it was found running, that the wait was in it already: that
    /// the count has not changed since does not say that it has not waited.
    @Test func aWaitThatWasCountedTooEarly() {
        var burst = BurstPolicy()
        _ = burst.approach(voluntary: 7, at: Self.time(0))
        burst.sawWait(.fragile, at: Self.time(1))
        #expect(burst.hasWaited(voluntary: 7))
        #expect(burst.approach(voluntary: 7, at: Self.time(2)) == .spare)
        #expect(burst.approach(voluntary: 7, at: Self.time(3)) == .signal)
    }

    /// Of its waits nothing is known yet; most calls survive a stop.
    @Test func anUnknownThreadIsStopped() {
        var burst = BurstPolicy()
        #expect(burst.approach(voluntary: 0, at: Self.time(0)) == .stop)
        #expect(burst.approach(voluntary: 1, at: Self.time(1)) == .stop)
    }

    @Test(arguments: [
        (WaitKind.restartsAfterHandler, BurstPolicy.Approach.signal),
        (.restartsAfterStop, .stop), (.fragile, .spare),
    ])
    func theKindOfWaitDecides(kind: WaitKind, approach: BurstPolicy.Approach) {
        var burst = BurstPolicy()
        burst.sawWait(kind, at: Self.time(0))
        #expect(burst.approach(voluntary: 1, at: Self.time(1)) == approach)
    }

    @Test func theWorstWaitIsRememberedForAWhile() {
        var burst = BurstPolicy()
        burst.sawWait(.fragile, at: Self.time(0))
        burst.sawWait(.restartsAfterHandler, at: Self.time(1))
        #expect(burst.approach(voluntary: 1, at: Self.time(2)) == .spare)
        burst.sawWait(.restartsAfterHandler, at: Self.time(1000))
        #expect(burst.approach(voluntary: 2, at: Self.time(1001)) == .signal)
    }

    @Test func oldWaitsAreForgotten() {
        var burst = BurstPolicy()
        burst.sawWait(.restartsAfterHandler, at: Self.time(0))
        #expect(burst.approach(voluntary: 1, at: Self.time(1000)) == .stop)
    }

    @Test func aBusyThreadMayBeSignalled() {
        var burst = BurstPolicy()
        burst.sawWait(.fragile, at: Self.time(0))
        for look in 1...BurstPolicy.enoughLooks {
            #expect(!burst.isAtWork)
            _ = burst.approach(voluntary: Int64(look), at: Self.time(Int64(look)))
        }
        #expect(burst.isAtWork)
        #expect(burst.approach(voluntary: 99, at: Self.time(50)) == .signal)
        burst.sawWait(.fragile, at: Self.time(51))
        #expect(burst.approach(voluntary: 100, at: Self.time(52)) == .spare)
    }

    /// The next wait may begin between the last look at it and a stop, however long that one waited
    /// for is ago.
    @Test func aThreadAfterAnEndableWaitIsStoppedInItsOwnCode() {
        var burst = BurstPolicy()
        for kind in [WaitKind.restartsAfterHandler, .restartsAfterStop] {
            burst.sawWait(kind, at: Self.time(0))
            #expect(!burst.hasWaitedFragile)
        }
        burst.sawWait(.fragile, at: Self.time(1))
        burst.sawWait(.restartsAfterHandler, at: Self.time(2))
        #expect(burst.approach(voluntary: 1, at: Self.time(3)) == .spare)
        #expect(burst.approach(voluntary: 1, at: Self.time(4)) == .signal)
        #expect(burst.hasWaitedFragile)
        _ = burst.approach(voluntary: 2, at: Self.time(5000))
        #expect(burst.hasWaitedFragile)
    }

    /// A program that computes and sleeps in turns: its sleeps are made again.
    @Test func waitsThatAreMadeAgainDoNotCount() {
        var burst = BurstPolicy()
        for cycle in 0..<4 {
            let begin = Int64(cycle) * 20
            for look in 0..<10 {
                #expect(!burst.isAtWork || cycle == 3 && look >= 2)
                _ = burst.approach(voluntary: Int64(cycle), at: Self.time(begin + Int64(look)))
            }
            burst.sawWait(.restartsAfterStop, isMadeAgain: true, at: Self.time(begin + 15))
        }
        #expect(burst.isAtWork)
        burst.sawWait(.fragile, at: Self.time(90))
        #expect(!burst.isAtWork)
    }

    @Test func waitsThatGoOnDoNotCount() {
        var burst = BurstPolicy()
        burst.sawWait(.restartsAfterHandler, at: Self.time(0))
        for look in 1...BurstPolicy.enoughLooks {
            _ = burst.approach(voluntary: 1, at: Self.time(Int64(look)))
            if look == 20 { burst.sawWait(.restartsAfterHandler, at: Self.time(20)) }
        }
        #expect(burst.isAtWork)
    }

    /// Else one stop would lead to the next.
    @Test func ourOwnStopIsNoWait() {
        var burst = BurstPolicy()
        _ = burst.approach(voluntary: 3, at: Self.time(0))
        burst.sawStop(voluntary: 4)
        #expect(burst.approach(voluntary: 4, at: Self.time(1)) == .signal)
    }
}
