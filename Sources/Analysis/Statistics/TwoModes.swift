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
