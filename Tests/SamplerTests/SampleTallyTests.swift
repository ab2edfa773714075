import ProfileModel
import Testing

@testable import Sampler

/// Which stacks were due and did not come.
@Suite struct SampleTallyTests {
    private static let interval: Int64 = 1_000_000

    /// - Parameter runs: CPU time in µs, and whether a stack was taken at its end.
    private static func tally(_ runs: [(Int64, Bool)]) -> SampleTally {
        var tally = SampleTally()
        for (time, isSampled) in runs {
            tally.ran(
                TimeSpan(nanoseconds: time * 1000), isSampled: isSampled, interval: interval)
        }
        tally.end(interval: interval)
        return tally
    }

    @Test(
        arguments: [
            ([], 0, 0), ([(1000, true), (1000, true)], 2, 0),
            // A bit early, and late.
            ([(900, true), (1400, true), (700, true)], 3, 0),
            ([(3000, true)], 1, 2), ([(2600, true)], 1, 2), ([(2400, true)], 1, 1),
            // Time without a stack adds up, over waits as well.
            ([(600, false), (500, false), (900, true)], 1, 1),
            // Of a thread's last part, whole intervals count.
            ([(1000, true), (999, false)], 1, 0), ([(2500, false)], 0, 2),
        ] as [([(Int64, Bool)], Int64, Int64)])
    func oneIsDueForEachInterval(runs: [(Int64, Bool)], taken: Int64, missed: Int64) {
        let tally = Self.tally(runs)
        #expect(tally.taken == taken && tally.missed == missed)
    }

    @Test func noneIsDueBeforeTheProgram() {
        var tally = SampleTally()
        tally.ran(.milliseconds(7), isSampled: false, interval: Self.interval)
        tally.skip()
        tally.ran(.milliseconds(1), isSampled: true, interval: Self.interval)
        #expect(tally.taken == 1 && tally.missed == 0)
        var sum = tally
        sum += Self.tally([(3000, true)])
        #expect(sum.taken == 2 && sum.missed == 2)
    }
}
