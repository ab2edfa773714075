/// How one figure of two versions differs, as a store has reckoned it out of all their launches.
package struct StoredDifference: Hashable, Sendable {
    /// Of launches that have the figure: of the later version, and of the earlier.
    package var counts: [Int]
    /// The later version's median, and the earlier's, in nanoseconds.
    package var median: Double
    package var medianBefore: Double
    /// All later − earlier, in nanoseconds. If a version has more than ``ThinnedValues/most``
    /// launches, as many evenly spaced ones stand for them.
    package var differences: ShiftRanks.Values
    /// Of all later/earlier. nil: a launch has 0 of it, which has no ratio.
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
