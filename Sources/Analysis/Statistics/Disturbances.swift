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

/// Whether values rise or fall in their order, and by how much: the slope of Theil and Sen, which
/// outliers do not affect, and the test of Mann and Kendall.
struct Trend {
    /// From one value to the next: the median of the slopes between any two.
    var slope: Double
    /// The probability that values in random order rise or fall as steadily (two-sided). It comes
    /// from the normal approximation with corrections for continuity and ties. From ``minimum``
    /// values on, that errs on the side of chance.
    var probability: Double

    /// With fewer values, a trend cannot be told from chance.
    static let minimum = 8
    /// With more values, the medians of this many groups of consecutive ones are used. That bounds
    /// the cost of comparing pairs of values, and a trend remains as visible.
    static let limit = 400

    /// nil: fewer than ``minimum`` values, or one that is not finite.
    init?(_ all: [Double]) {
        guard all.count >= Self.minimum, all.allSatisfy(\.isFinite) else { return nil }
        let size = (all.count + Self.limit - 1) / Self.limit
        let values = size == 1 ? all : Self.medians(all, ofGroups: size)
        var slopes: [Double] = []
        slopes.reserveCapacity(values.count * (values.count - 1) / 2)
        var score = 0
        for later in values.indices {
            for earlier in 0..<later {
                let step = values[later] - values[earlier]
                score += step > 0 ? 1 : step < 0 ? -1 : 0
                slopes.append(step / Double((later - earlier) * size))
            }
        }
        guard let slopes = SortedValues(slopes) else { return nil }
        slope = slopes.median
        probability = Self.probability(ofScore: score, values)
    }

    /// The medians of equal groups; a remainder at the end is left out.
    private static func medians(_ values: [Double], ofGroups size: Int) -> [Double] {
        stride(from: 0, through: values.count - size, by: size).compactMap { start in
            SortedValues(values[start..<start + size])?.median
        }
    }

    private static func probability(ofScore score: Int, _ values: [Double]) -> Double {
        func weight(_ count: Int) -> Double {
            Double(count) * Double(count - 1) * Double(2 * count + 5)
        }
        let ties = Dictionary(grouping: values, by: { $0 }).values.map { weight($0.count) }
        let variance = (weight(values.count) - ties.reduce(0, +)) / 18
        guard score != 0, variance > 0 else { return 1 }
        return min(
            1, 2 * StandardNormal.upperTail(Double(abs(score) - 1) / variance.squareRoot()))
    }
}

/// Values of two kinds: those up to a border, and those above it.
///
/// There are two signs. One is two clusters with a gap between them that is much wider than either;
/// ten values are enough to show that, if each cluster has three. The other is a dip that a
/// distribution with one mode hardly ever has, whatever its shape; with more values it shows even
/// where clusters overlap. A few values far from all others are outliers, not a mode.
struct TwoModes: Hashable {
    /// The medians of both kinds, and the number of values of each.
    var lower: Double
    var lowerCount: Int
    var upper: Double
    var upperCount: Int

    /// With fewer values, chance alone gives three of each kind and a gap too often.
    static let minimum = 8
    /// The width of the gap, as a multiple of that of both clusters. By chance a gap is so wide in
    /// at most one of 300 samples. The more values there are, the rarer are wide gaps.
    private static func gap(_ count: Int) -> Double { min(3, max(1.5, 30 / Double(count))) }
    /// The least distance of the medians that is worth reporting, as a share of the lower one.
    static let smallestDistance = 0.03

    init?(_ sorted: SortedValues) {
        guard sorted.count >= Self.minimum else { return nil }
        let values = sorted.values
        guard let border = Self.gapBorder(values) ?? Self.dipBorder(sorted),
            let below = SortedValues(values[..<border]), let above = SortedValues(values[border...])
        else { return nil }
        (lower, lowerCount) = (below.median, below.count)
        (upper, upperCount) = (above.median, above.count)
        guard upper - lower >= Self.smallestDistance * abs(lower) else { return nil }
    }

    /// The fewest values that make a mode.
    private static func smallest(_ count: Int) -> Int { max(3, count / 10) }

    /// The first value above the gap.
    private static func gapBorder(_ values: [Double]) -> Int? {
        let smallest = smallest(values.count)
        var border = smallest
        for place in smallest...values.count - smallest
        where values[place] - values[place - 1] > values[border] - values[border - 1] {
            border = place
        }
        let width = max(values[border - 1] - values[0], values[values.count - 1] - values[border])
        return values[border] - values[border - 1] > gap(values.count) * width ? border : nil
    }

    /// The border between two clusters that are each as narrow as possible, if there is a dip. At
    /// either end, as many values as are too few for a mode are limited: outliers do not make a
    /// cluster of their own.
    private static func dipBorder(_ sorted: SortedValues) -> Int? {
        guard Dip(sorted).isSignificant else { return nil }
        let smallest = smallest(sorted.count)
        let edge = smallest - 1
        let (low, high) = (sorted.values[edge], sorted.values[sorted.count - 1 - edge])
        let values = sorted.values.map { min(max($0, low), high) - low }
        let total = values.reduce(0, +)
        var below = values[..<smallest].reduce(0, +)
        var best: (border: Int, between: Double)?
        for border in smallest...values.count - smallest {
            let (left, right) = (Double(border), Double(values.count - border))
            let distance = below / left - (total - below) / right
            let between = left * right * distance * distance
            if between > best?.between ?? 0 { best = (border, between) }
            below += values[border]
        }
        return best?.border
    }
}
