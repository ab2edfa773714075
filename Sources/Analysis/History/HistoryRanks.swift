/// The values of a point that a history shows, by their ranks alone: for a store that has the
/// values.
package struct HistoryRanks: Hashable, Sendable {
    /// Ranks of ascending values, counted from 1.
    package struct Interval: Hashable, Sendable {
        package var low: Int
        package var high: Int
        package var confidence: Double

        fileprivate init?(_ ranks: (low: Int, high: Int, confidence: Double)?) {
            guard let ranks else { return nil }
            (low, high, confidence) = ranks
        }
    }

    /// The interval that holds the true median; nil: a single value has none.
    package var median: Interval?
    /// nil: fewer than 20 values.
    package var percentile90: Int?
    /// nil: too few values.
    package var percentile90Interval: Interval?

    /// The confidence of the intervals.
    static let confidence = 0.95
    /// With fewer launches, no 90th percentile is shown.
    static let leastForPercentile = 20

    package init(count: Int) {
        median = Interval(SortedValues.medianRanks(count: count, confidence: Self.confidence))
        guard count >= Self.leastForPercentile else { return }
        percentile90 = SortedValues.percentile90Rank(count: count)
        percentile90Interval = Interval(
            SortedValues.percentileRanks(count: count, 0.9, confidence: Self.confidence))
    }
}
