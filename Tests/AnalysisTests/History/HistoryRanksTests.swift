import Foundation
import ProfileModel
import Testing

@testable import Analysis

/// A store with the values receives the ranks of those to show: they must be the same as computed
/// from the values.
struct HistoryRanksTests {
    @Test(arguments: 1...400) func ranksAreWhatSortedValuesShow(count: Int) throws {
        let values = (1...count).map { Double($0 * $0) }
        let sorted = try #require(SortedValues(values))
        let ranks = HistoryRanks(count: count)
        func value(_ rank: Int) -> Double { values[rank - 1] }
        let median = sorted.medianInterval(confidence: 0.95)
        #expect(ranks.median.map { value($0.low) } == median?.low)
        #expect(ranks.median.map { value($0.high) } == median?.high)
        #expect(ranks.median?.confidence == median?.confidence)
        #expect(ranks.percentile90.map(value) == (count >= 20 ? sorted.percentile90 : nil))
        let interval = count >= 20 ? sorted.percentileInterval(0.9, confidence: 0.95) : nil
        #expect(ranks.percentile90Interval.map { value($0.low) } == interval?.low)
        #expect(ranks.percentile90Interval.map { value($0.high) } == interval?.high)
        #expect(ranks.percentile90Interval?.confidence == interval?.confidence)
    }

    /// With many values, not all terms are added up: the rank is that where the binomial tail,
    /// added up from its beginning, exceeds the limit.
    @Test(arguments: [10_000, 10_001, 10_002, 54_321, 200_000], [0.5, 0.9])
    func manyValues(count: Int, share: Double) throws {
        var logTerm = Double(count) * (1 - share).logarithm
        let odds = (share / (1 - share)).logarithm
        var (tail, rank) = (0.0, 0)
        while true {
            let next = tail + logTerm.exponential
            if next > 0.025 { break }
            (tail, rank) = (next, rank + 1)
            logTerm += (Double(count - rank + 1) / Double(rank)).logarithm + odds
        }
        let ranks =
            share == 0.5
            ? SortedValues.medianRanks(count: count, confidence: 0.95)
            : SortedValues.percentileRanks(count: count, share, confidence: 0.95)
        #expect(ranks?.low == rank)
    }

    @Test func hundredMillionsAreSoonKnown() throws {
        let ranks = try #require(HistoryRanks(count: 100_000_000).median)
        #expect(ranks.low + ranks.high == 100_000_001)
        // 1.96 standard deviations of 5,000 below the middle.
        #expect(abs(Double(50_000_000 - ranks.low) - 9_800) < 10)
        #expect(ranks.confidence >= 0.95 && ranks.confidence < 0.9501)
    }

    @Test func noValues() {
        #expect(HistoryRanks(count: 0).median == nil)
        #expect(HistoryRanks(count: 0).percentile90 == nil)
    }
}

extension Double {
    fileprivate var exponential: Double { exp(self) }
}
