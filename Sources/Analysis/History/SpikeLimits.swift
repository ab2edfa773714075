/// Moves single values that are far from their neighbours closer to these. So a spike is no step,
/// and hides none. A step keeps its place, because most of a value's neighbours are on its own
/// side.
enum SpikeLimits {
    /// The number of neighbours on either side that define a spike: up to three outlying values are
    /// limited, and four are a level of their own. With fewer neighbours, spikes close together
    /// would be taken for steps. With more, a change that lasts for five versions would be taken
    /// for a spike.
    static let reach = 3
    /// The number of neighbours on either side for estimating the scatter: more neighbours give a
    /// better estimate.
    static let breadth = 5
    /// In standard deviations, estimated from the median distance as for a normal distribution.
    static let limit = 2.5

    static func applied(to values: [Double]) -> [Double] {
        let middles = values.indices.map { middle(values, around: $0, reach) }
        let most = limit * deviation(of: values)
        return zip(values, middles).map { min(max($0, $1 - most), $1 + most) }
    }

    /// The usual distance of values from the middle of their neighbours.
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
        // Both ends need as many neighbours; with fewer, two spikes would be the majority there.
        let count = min(2 * reach + 1, values.count)
        let low = min(max(0, index - reach), values.count - count)
        let range = low..<low + count
        return SortedValues(values[range])?.median ?? values[index]
    }
}
