/// Draws single values that lie far from their neighbours closer to these. So a spike is no step,
/// and hides none. A step stays where it is, because most of a value's neighbours are on its own
/// side.
enum SpikeLimits {
    /// How many neighbours on either side say what is a spike: up to three values that are off are
    /// drawn in, and four are a level of their own. With fewer, spikes that come close together
    /// would be taken for steps. With more, what lasts for five versions would be taken for a
    /// spike.
    static let reach = 3
    /// Neighbours on either side, which say how far values scatter: more of them say it better.
    static let breadth = 5
    /// In standard deviations, as the median distance gives them for a normal distribution.
    static let limit = 2.5

    static func applied(to values: [Double]) -> [Double] {
        let middles = values.indices.map { middle(values, around: $0, reach) }
        let most = limit * deviation(of: values)
        return zip(values, middles).map { min(max($0, $1 - most), $1 + most) }
    }

    /// How far values usually lie from the middle of their neighbours.
    static func deviation(of values: [Double]) -> Double {
        deviation(values.indices.map { values[$0] - middle(values, around: $0, breadth) })
    }

    private static func deviation(_ distances: [Double]) -> Double {
        guard let middle = SortedValues(distances)?.median,
            let spread = SortedValues(distances.map { abs($0 - middle) })
        else { return 0 }
        return 1.4826 * spread.median
    }

    private static func middle(_ values: [Double], around index: Int, _ reach: Int) -> Double {
        // At both ends there must be as many, or two spikes there were most.
        let count = min(2 * reach + 1, values.count)
        let low = min(max(0, index - reach), values.count - count)
        let range = low..<low + count
        return SortedValues(values[range])?.median ?? values[index]
    }
}
