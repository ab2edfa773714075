/// The ranks of the differences between two samples' values that give the shift of one sample
/// against the other. They depend only on the samples' sizes, so a store that has the values can
/// look them up.
package struct ShiftRanks: Hashable, Sendable {
    /// Ranks of ascending differences, counted from 1. The median lies between the middle two; if
    /// the number of differences is odd, both are the same.
    package var low: Int
    package var lowerMiddle: Int
    package var upperMiddle: Int
    package var high: Int
    /// The number of differences.
    package var count: Int
    /// The confidence of each bound by itself: as asked for, or less where there are too few
    /// values.
    package var confidence: Double

    /// - Parameters:
    ///   - counts: of both samples, at least 1 each.
    ///   - confidence: of each bound by itself, more than 0.5.
    package init(counts: (Int, Int), confidence: Double) {
        let bound = MannWhitney.bound(counts: counts, confidence: confidence)
        count = counts.0 * counts.1
        (lowerMiddle, upperMiddle) = ((count + 1) / 2, count / 2 + 1)
        (low, high) = (bound.rank, count + 1 - bound.rank)
        self.confidence = bound.confidence
    }

    /// The values at these ranks.
    package struct Values: Hashable, Sendable {
        package var low: Double
        package var lowerMiddle: Double
        package var upperMiddle: Double
        package var high: Double

        package init(low: Double, lowerMiddle: Double, upperMiddle: Double, high: Double) {
            (self.low, self.high) = (low, high)
            (self.lowerMiddle, self.upperMiddle) = (lowerMiddle, upperMiddle)
        }

        /// The median.
        var middle: Double { lowerMiddle / 2 + upperMiddle / 2 }

        func mapped(_ change: (Double) -> Double) -> Values {
            Values(
                low: change(low), lowerMiddle: change(lowerMiddle),
                upperMiddle: change(upperMiddle), high: change(high))
        }
    }
}
