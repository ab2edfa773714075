import ProfileModel

/// The cost of a thing in the launches that show it.
struct Tally: Hashable, Sendable {
    private(set) var seen = 0
    /// The number of these in which its cost is not known.
    private(set) var unknown = 0
    /// The number of these in which it was loaded for nothing.
    private(set) var unused = 0
    private(set) var sum = TopCost.zero
    private(set) var own = Moments()
    private(set) var total = Moments()

    init() {}

    /// The tally from a store.
    init(_ stored: StoredTop.Tally) {
        (seen, unknown, unused, sum) = (stored.seen, stored.unknown, stored.unused, stored.sum)
        let known = seen - unknown
        own = Moments(of: known, sum: sum.own.wall, squares: stored.ownSquares)
        total = Moments(of: known, sum: sum.total.wall, squares: stored.totalSquares)
    }

    mutating func add(_ cost: TopCost, isKnown: Bool, isUsed: Bool) {
        seen += 1
        sum = sum + cost
        if !isUsed { unused += 1 }
        guard isKnown else {
            unknown += 1
            return
        }
        own.add(Double(cost.own.wall.nanoseconds))
        total.add(Double(cost.total.wall.nanoseconds))
    }

    static func + (left: Tally, right: Tally) -> Tally {
        var result = Tally()
        result.seen = left.seen + right.seen
        result.unknown = left.unknown + right.unknown
        result.unused = left.unused + right.unused
        result.sum = left.sum + right.sum
        result.own = left.own + right.own
        result.total = left.total + right.total
        return result
    }

    /// Per launch; launches that do not show it count as 0.
    func figures(launches: Int, _ quantiles: inout StudentQuantiles) -> TopFigures {
        // Launches with an unknown cost are left out: 0 would be invented.
        let count = launches - unknown
        return TopFigures(
            launches: launches, seen: seen, unknown: unknown, unused: unused, sum: sum,
            own: MeanTime(own.padded(to: count), &quantiles),
            total: MeanTime(total.padded(to: count), &quantiles))
    }
}

/// The cost of a thing per launch.
package struct TopFigures: Hashable, Sendable {
    /// The number of all launches.
    package var launches: Int
    /// The number of launches that show it.
    package var seen: Int
    /// The number of these in which its cost is not known: they are in no mean.
    package var unknown: Int
    /// For a library: the number of these in which no stack shows its code after its initialisers.
    package var unused: Int
    /// Over all launches.
    package var sum: TopCost
    /// Wall time per launch: a function's own; nil: not known for any launch.
    package var own: MeanTime?
    /// The same with a function's callees.
    package var total: MeanTime?
}
