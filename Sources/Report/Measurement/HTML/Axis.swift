/// A linear scale that contains all given values, with round numbers as ticks.
struct Axis: Hashable, Sendable {
    let low: Double
    let high: Double
    /// Ascending, within the scale.
    let ticks: [Double]
    /// The distance of two ticks.
    let step: Double

    /// - Parameters:
    ///   - values: anything but numbers is ignored; without values the scale is 0 to 1.
    ///   - count: the approximate number of ticks.
    init(covering values: some Sequence<Double>, ticks count: Int = 5) {
        let finite = values.lazy.filter { abs($0) <= Self.largest }
        var (least, greatest) = (Double.infinity, -Double.infinity)
        for value in finite { (least, greatest) = (min(least, value), max(greatest, value)) }
        if least > greatest { (least, greatest) = (0, 1) }
        // If all values are equal, they are in the middle.
        let width = greatest - least
        let margin = width > 0 ? width * Self.margin : max(abs(least) * 0.05, 1)
        low = least - margin
        high = greatest + margin
        step = Self.round(above: (high - low) / Double(max(1, count)))
        ticks = Self.multiples(of: step, from: low, to: high)
    }

    /// From zero on, for bars.
    init(upTo greatest: Double, ticks count: Int) {
        low = 0
        high = greatest > 0 && greatest <= Self.largest ? greatest : 1
        step = Self.round(above: high / Double(max(1, count)))
        ticks = Self.multiples(of: step, from: low, to: high)
    }

    /// A value's position in the scale, from 0 to 1; values outside are at the border.
    func fraction(_ value: Double) -> Double {
        let fraction = (value - low) / (high - low)
        guard fraction > 0 else { return 0 }
        return min(fraction, 1)
    }

    func contains(_ value: Double) -> Bool { low <= value && value <= high }

    /// 1, 2 or 5 times a power of ten, but not below `least`.
    static func round(above least: Double) -> Double {
        guard least > 0, least <= largest else { return 1 }
        var power = 1.0
        while power > least { power /= 10 }
        while power * 10 <= least { power *= 10 }
        for factor in [1, 2, 5] as [Double] where power * factor >= least { return power * factor }
        return power * 10
    }

    private static func multiples(of step: Double, from low: Double, to high: Double) -> [Double] {
        let first = (low / step).rounded(.up)
        // `step` is a fraction of the width that is not tiny, so there are only few.
        let candidates = (0...mostTicks).map { (first + Double($0)) * step }
        return candidates.filter { low <= $0 && $0 <= high }
    }

    /// The margin at both sides, as a share of the values' width.
    private static let margin = 0.04
    private static let mostTicks = 50
    /// No figure is larger: such a value is damaged.
    private static let largest = 1e19
}
