import Testing

@testable import Analysis

@Suite struct TrendTests {
    /// Values with a tie and an outlier: the slope as `theilslopes` of SciPy gives it.
    @Test func knownValues() throws {
        let trend = try #require(Trend([10, 12, 11, 13, 13, 15, 90, 16, 17, 19]))
        #expect(abs(trend.slope - 1) < 1e-12)
        // S = 40 - 4 of 45 pairs, variance (10·9·25 - 2·1·9) / 18 = 124, z = 35 / √124.
        #expect(abs(trend.probability - 0.00167173) < 1e-8)
    }

    @Test func risingFallingAndNeither() throws {
        let rising = (0..<20).map { 100 + Double($0) / 2 }
        let trend = try #require(Trend(rising))
        #expect(trend.slope == 0.5)
        #expect(trend.probability < 1e-8)
        #expect(try #require(Trend(rising.reversed())).slope == -0.5)
        let level = try #require(Trend([Double](repeating: 5, count: 20)))
        #expect(level.slope == 0)
        #expect(level.probability == 1)
        let alternating = try #require(Trend((0..<20).map { Double($0 % 2) }))
        #expect(alternating.probability > 0.3)
    }

    @Test func tooFewOrNoNumbers() {
        #expect(Trend([Double](repeating: 1, count: Trend.minimum - 1)) == nil)
        #expect(Trend([Double](repeating: 1, count: Trend.minimum)) != nil)
        #expect(Trend([1, 2, 3, 4, 5, 6, 7, .infinity]) == nil)
    }

    /// Many values are grouped, and the slope is still that from one value to the next.
    @Test(arguments: [400, 401, 999, 30_000]) func manyValues(count: Int) throws {
        var samples = Samples(seed: 3)
        let values = (0..<count).map { 100 + 0.02 * Double($0) + samples.normal() }
        let trend = try #require(Trend(values))
        #expect(abs(trend.slope - 0.02) < 0.001)
        #expect(trend.probability < 1e-12)
    }

    /// Of samples in random order, no more seem to drift than the probability says.
    @Test(arguments: [8, 10, 20, 40]) func falseAlarms(count: Int) throws {
        var samples = Samples(seed: UInt64(count))
        var alarms = 0
        for _ in 0..<1_000 {
            let trend = try #require(Trend(samples.values(count, of: .exponential)))
            if trend.probability < 0.005 { alarms += 1 }
        }
        #expect(alarms <= 10)
    }

    /// A drift of three standard deviations in all is seen in 20 launches.
    @Test func power() throws {
        var samples = Samples(seed: 1)
        var seen = 0
        for _ in 0..<200 {
            let values = (0..<20).map { 100 + 3 * samples.normal() + 9 * Double($0) / 19 }
            if try #require(Trend(values)).probability < 0.005 { seen += 1 }
        }
        #expect(seen > 100)
    }
}
