import ProfileModel
import Testing

@testable import Analysis

/// A store that has the values is told which of them are shown: these are what the values themselves
/// give.
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

    @Test func noValues() {
        #expect(HistoryRanks(count: 0).median == nil)
        #expect(HistoryRanks(count: 0).percentile90 == nil)
    }
}
