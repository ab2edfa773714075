import ProfileModel

/// What a thing cost in the launches in which it was seen.
struct Tally: Hashable, Sendable {
    private(set) var seen = 0
    /// Of these, in how many it is not known what it cost.
    private(set) var unknown = 0
    /// Of these, in how many it was loaded for nothing.
    private(set) var unused = 0
    private(set) var sum = TopCost.zero
    private(set) var own = Moments()
    private(set) var total = Moments()

    init() {}

    /// As a store has added it up.
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

    /// Per launch, launches in which it was not seen being 0.
    func figures(launches: Int, _ quantiles: inout StudentQuantiles) -> TopFigures {
        // Where it was seen without being known what it cost, 0 would be invented.
        let count = launches - unknown
        return TopFigures(
            launches: launches, seen: seen, unknown: unknown, unused: unused, sum: sum,
            own: MeanTime(own.padded(to: count), &quantiles),
            total: MeanTime(total.padded(to: count), &quantiles))
    }
}

/// What a thing cost per launch.
package struct TopFigures: Hashable, Sendable {
    /// All launches that were looked at.
    package var launches: Int
    /// In how many of them it was seen.
    package var seen: Int
    /// In how many of these it is not known what it cost: they are in no mean.
    package var unknown: Int
    /// Of libraries: in how many of these no code of it was seen after its initialisers.
    package var unused: Int
    /// Over all launches.
    package var sum: TopCost
    /// Wall time per launch: a function's own; nil: not known of any launch.
    package var own: MeanTime?
    /// The same with what a function called.
    package var total: MeanTime?
}
