/// Values far from all others.
///
/// The distance is measured by the median distance from the median (MAD), which outliers themselves
/// do not widen. Where more than half of the values are (almost) equal, that distance is (almost)
/// 0, and all other values would be far. So it counts as at least one hundredth of the median:
/// launches that differ by less than some percent are not worth reporting.
enum Outliers {
    /// In standard deviations, estimated from that distance as for a normal distribution. The times
    /// of launches have a tail to the right: of ten values of a gamma distribution (of shape 2),
    /// one lies beyond this limit in 3 % of all samples. At 5 it would be 12 %.
    static let limit = 8.0
    /// As a share of the median: the least standard deviation.
    static let smallestDeviation = 0.01
    /// With fewer values, the usual value is not known.
    static let minimum = 5

    /// The positions of outliers, ascending; all values are finite.
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
