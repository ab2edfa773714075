import Glibc
import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// The procedure on made-up launches, as measurement on real machines has them: noise that is
/// proportional to the time, one launch in twenty that takes 30 % more, and one step of 10 % up or
/// down at a random launch, when the machine changes its mind.
@Suite struct FalseAlarmTests {
    private struct Trial {
        var pairs: Int
        var spread: Double
        var change = 1.0
        var inBlocks = false
    }

    private func measure(_ trial: Trial, _ samples: inout Samples) -> Measurement {
        var builder = MeasurementBuilder(arms: 2)
        let arms =
            trial.inBlocks
            ? (0..<2 * trial.pairs).map { $0 / trial.pairs }
            : PairedOrder.turns(pairs: trial.pairs, seed: samples.random.next()).map(\.arm)
        let step = Int.random(in: 0..<arms.count, using: &samples.random)
        let size = samples.uniform() < 0.5 ? 1.1 : 1 / 1.1
        for (index, arm) in arms.enumerated() {
            var wall = 200 * exp(trial.spread * samples.normal())
            if samples.uniform() < 0.05 { wall *= 1.3 }
            if index >= step { wall *= size }
            builder.launch(arm == 0 ? wall * trial.change : wall, arm: arm)
        }
        return builder.measurement
    }

    /// Pairs of launches that ran in blocks: the first with the first, as in a measurement in
    /// blocks.
    private func pairs(_ measurement: Measurement, _ trial: Trial) -> [(Double, Double)] {
        guard trial.inBlocks else { return LaunchPairs.walls(of: measurement.launches) }
        let walls = (0...1).map { arm in
            measurement.launches.filter { $0.arm == arm }.map { Double($0.wall.nanoseconds) }
        }
        return Array(zip(walls[0], walls[1]))
    }

    /// How many of the trials are called slower.
    private func slower(_ trial: Trial, trials: Int, seed: UInt64) throws -> Int {
        var samples = Samples(seed: seed)
        var count = 0
        for _ in 0..<trials {
            let walls = pairs(measure(trial, &samples), trial)
            let comparison = try #require(Comparison(walls, rule: ComparisonRule()))
            if comparison.verdict == .slower { count += 1 }
        }
        return count
    }

    /// A program against itself.
    @Test(arguments: [(10, 0.06), (20, 0.03), (20, 0.06), (40, 0.06)])
    func noAlarmsOfWhatTakesTurns(pairs: Int, spread: Double) throws {
        let trial = Trial(pairs: pairs, spread: spread)
        #expect(try slower(trial, trials: 300, seed: UInt64(pairs)) <= 1)
    }

    /// The same launches in blocks: the machine's step is taken for the program's.
    @Test func alarmsOfBlocks() throws {
        let trial = Trial(pairs: 20, spread: 0.03, inBlocks: true)
        #expect(try slower(trial, trials: 300, seed: 2) >= 9)
    }

    /// A slower program is recognised.
    @Test(arguments: [
        (20, 0.03, 1.08, 180...280), (20, 0.03, 1.1, 260...300), (40, 0.06, 1.08, 150...260),
        (40, 0.06, 1.1, 250...300),
    ]) func power(pairs: Int, spread: Double, change: Double, expected: ClosedRange<Int>) throws {
        let trial = Trial(pairs: pairs, spread: spread, change: change)
        let seen = try slower(trial, trials: 300, seed: UInt64(pairs))
        #expect(expected.contains(seen), "\(seen) of 300")
    }

    /// The change that a comparison states as detectable is seen in about four of five trials.
    @Test(arguments: [10, 20, 40]) func detectableIsSeen(pairs: Int) throws {
        var samples = Samples(seed: UInt64(pairs))
        let still = Trial(pairs: pairs, spread: 0.04)
        let detectable = try (0..<100).map { _ in
            let walls = self.pairs(measure(still, &samples), still)
            return try #require(Comparison(walls, rule: .init())?.detectable)
        }
        let typical = try #require(SortedValues(detectable)).median
        let trial = Trial(pairs: pairs, spread: 0.04, change: 1 + typical)
        let seen = try slower(trial, trials: 300, seed: 99)
        #expect((195...280).contains(seen), "\(seen) of 300 at \(typical)")
    }
}
