/// The difference of one figure between two versions, computed by a store from all their launches.
package struct StoredDifference: Hashable, Sendable {
    /// The numbers of launches that have the figure: of the later version, and of the earlier.
    package var counts: [Int]
    /// The later version's median, and the earlier's, in nanoseconds.
    package var median: Double
    package var medianBefore: Double
    /// Of all differences later − earlier, in nanoseconds. If a version has more than
    /// ``ThinnedValues/most`` launches, as many evenly spaced ones represent them.
    package var differences: ShiftRanks.Values
    /// Of all ratios later/earlier. nil: the figure is 0 for a launch, so there is no ratio.
    package var ratios: ShiftRanks.Values?

    package init(
        counts: [Int], median: Double, medianBefore: Double, differences: ShiftRanks.Values,
        ratios: ShiftRanks.Values?
    ) {
        self.counts = counts
        (self.median, self.medianBefore) = (median, medianBefore)
        (self.differences, self.ratios) = (differences, ratios)
    }
}
