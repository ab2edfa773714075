import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

@Suite struct ComparisonTests {
    /// Arm 0 takes `factor` times as long as arm 1, plus what each pair has of its own.
    private func compare(
        _ noise: [Double], base: Double = 200, factor: Double = 1, rule: ComparisonRule = .init()
    ) throws -> Comparison {
        try #require(
            Comparison(
                noise.enumerated().map {
                    let before = (base + Double($0 % 5)) * 1e6
                    return (before * factor * (1 + $1), before)
                }, rule: rule))
    }

    private static let noise = [
        0.004, -0.006, 0.001, -0.002, 0.009, -0.008, 0.003, -0.001, 0.007, -0.005,
    ]

    @Test func change() throws {
        let slower = try compare(Self.noise, factor: 1.1)
        #expect(slower.pairs == 10)
        #expect(abs(slower.change - 0.1) < 0.002)
        #expect(slower.low < slower.change && slower.change < slower.high)
        #expect(slower.confidence == 1 - 10 / 1024.0)
        #expect(abs(slower.difference - 20.2e6) < 0.5e6)
        #expect(slower.differenceLow < slower.difference)
        #expect(slower.difference < slower.differenceHigh)
        #expect(slower.verdict == .slower)
        #expect(slower.rule == ComparisonRule())
    }

    @Test(arguments: [
        (1.0, Comparison.Verdict.same), (1.02, .same), (1.03, .inconclusive), (1.05, .slower),
        (0.9, .faster), (0.99, .faster), (0.998, .same),
    ]) func verdicts(factor: Double, verdict: Comparison.Verdict) throws {
        #expect(try compare(Self.noise, factor: factor).verdict == verdict)
    }

    /// Both arms change places: the ratio turns round.
    @Test func otherWayRound() throws {
        let pairs = Self.noise.map { (1.2e8 * (1 + $0), 1e8) }
        let forth = try #require(Comparison(pairs, rule: .init()))
        let back = try #require(Comparison(pairs.map { ($0.1, $0.0) }, rule: .init()))
        #expect(abs((1 + forth.change) * (1 + back.change) - 1) < 1e-12)
        #expect(abs((1 + forth.low) * (1 + back.high) - 1) < 1e-12)
        #expect(forth.differenceLow == -back.differenceHigh)
        #expect((forth.verdict, back.verdict) == (.slower, .faster))
    }

    /// 10 % of 10 ms are less than 2 ms.
    @Test func theLargerAllowanceCounts() throws {
        #expect(try compare(Self.noise, base: 10, factor: 1.1).verdict == .same)
        let strict = ComparisonRule(allowedDifference: .zero)
        #expect(try compare(Self.noise, base: 10, factor: 1.1, rule: strict).verdict == .slower)
        let generous = ComparisonRule(allowedShare: 0.2)
        #expect(try compare(Self.noise, factor: 1.1, rule: generous).verdict == .same)
    }

    /// Fewer than seven pairs are never sure to 99 %, whatever they show.
    @Test(arguments: 1...6) func tooFewPairs(count: Int) throws {
        let comparison = try compare([Double](repeating: 0, count: count), factor: 3)
        #expect(comparison.verdict == .inconclusive)
        #expect(comparison.detectable == nil)
        #expect(comparison.confidence == 1 - 1 / Double(1 << count))
        #expect(try compare([Double](repeating: 0, count: 7), factor: 3).verdict == .slower)
    }

    @Test func noPairs() { #expect(Comparison([], rule: .init()) == nil) }

    @Test func detectableIsAtLeastWhatIsAllowed() throws {
        let still = try compare([Double](repeating: 0, count: 10))
        #expect(abs(try #require(still.detectable) - 0.03) < 1e-9)
        let loud = try compare(Self.noise.map { $0 * 10 })
        #expect(try #require(loud.detectable) > 0.08)
        // 2 ms of 10.
        let short = try compare(Self.noise, base: 8)
        #expect(try #require(short.detectable) > 0.2)
    }
}

@Suite struct LaunchPairsTests {
    /// Launches as letters: A and B count, a and b do not, 1 and 2 are first ones.
    private func pairs(_ order: String) -> [String] {
        var builder = MeasurementBuilder(arms: 2)
        for (index, letter) in order.enumerated() {
            builder.launch(
                Double(index + 1), arm: "Bb2".contains(letter) ? 1 : 0,
                discarded: "12".contains(letter) ? .first : "ab".contains(letter) ? .failed : nil)
        }
        return LaunchPairs.walls(of: builder.measurement.launches).map {
            "\(Int($0.0 / 1e6))-\(Int($0.1 / 1e6))"
        }
    }

    @Test(arguments: [
        ("12ABBABAAB", ["3-4", "6-5", "8-7", "9-10"]),
        ("AB", ["1-2"]), ("BA", ["2-1"]), ("A", []), ("", []), ("AAAA", []),
        // One that does not count takes its partner with it.
        ("ABbABAAB", ["1-2", "6-5", "7-8"]), ("aBBA", ["4-3"]), ("AbBA", ["4-3"]),
        // One that was repeated at once.
        ("aABBA", ["2-3", "5-4"]), ("AABBA", ["2-3", "5-4"]),
        // An interrupted measurement.
        ("12ABB", ["3-4"]),
    ]) func pairs(order: String, expected: [String]) { #expect(pairs(order) == expected) }

    @Test func noTimeIsNoLaunch() {
        var builder = MeasurementBuilder(arms: 2)
        for (wall, arm) in [(5.0, 0), (0, 1), (-3, 1), (5, 0), (7, 0), (6, 1), (6, 2)] {
            builder.launch(wall, arm: arm)
        }
        #expect(LaunchPairs.walls(of: builder.measurement.launches).count == 1)
    }

    @Test func theSummaryComparesThem() throws {
        var builder = MeasurementBuilder(arms: 2)
        for turn in PairedOrder.turns(pairs: 10, seed: 5) {
            builder.launch(turn.arm == 0 ? 120 : 100, arm: turn.arm)
        }
        let comparison = try #require(MeasurementSummary(of: builder.measurement).comparison)
        #expect(comparison.pairs == 10)
        #expect(abs(comparison.change - 0.2) < 1e-12)
        #expect(comparison.difference == 20e6)
        #expect(comparison.verdict == .slower)
    }
}
