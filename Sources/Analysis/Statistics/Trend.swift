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
