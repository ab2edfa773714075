/// Values of two kinds: those up to a border, and those above.
///
/// Two signs count. One is two heaps with a gap between them that is much wider than either; ten
/// values are enough to see that, if each heap has three. The other is a dip that a distribution
/// with one mode hardly ever has, whatever its shape; with more values it shows even where heaps
/// overlap. A few values far from all others are outliers, not a mode.
struct TwoModes: Hashable {
    /// The medians of both kinds, and how many there are of each.
    var lower: Double
    var lowerCount: Int
    var upper: Double
    var upperCount: Int

    /// With fewer values, three of each kind and a gap are not rare enough by chance.
    static let minimum = 8
    /// How many times as wide as both heaps a gap must be. By chance it is so wide in one of 300
    /// samples at most. The more values there are, the rarer are wide gaps.
    private static func gap(_ count: Int) -> Double { min(3, max(1.5, 30 / Double(count))) }
    /// How far apart the medians must lie to be worth a word, as a share of the lower one.
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

    /// Where two heaps are each as narrow as can be, if there is a dip. At either end, as many
    /// values as are too few for a mode are drawn in: outliers do not make a heap of their own.
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
