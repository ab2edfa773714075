/// Values that lie far from all others.
///
/// Far is measured by the median distance from the median (MAD), which outliers themselves do not
/// widen. Where more than half of the values are (next to) equal, that distance is (next to) 0, and
/// everything else would be far. So it counts as one hundredth of the median at least: launches
/// that differ by less than some percent are not worth a word.
enum Outliers {
    /// In standard deviations, as the distance gives them for a normal distribution. The times of
    /// launches have a tail to the right: of ten values of a gamma distribution (of shape 2), one
    /// lies beyond this in 3 % of all samples. At 5 it would be 12 %.
    static let limit = 8.0
    /// Of the median: what counts as one standard deviation at least.
    static let smallestDeviation = 0.01
    /// With fewer values nothing can be said of what is usual.
    static let minimum = 5

    /// The places of outliers, ascending; all values are finite.
    static func places(in values: [Double]) -> [Int] {
        guard values.count >= minimum, let sorted = SortedValues(values),
            let distances = SortedValues(values.map { abs($0 - sorted.median) })
        else { return [] }
        let deviation = max(
            distances.median * 1.4826, abs(sorted.median) * smallestDeviation)
        return values.indices.filter {
            abs(values[$0] - sorted.median) > limit * deviation
        }
    }
}
