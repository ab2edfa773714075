package import ProfileModel

/// The costs of resolved things in the launches of one program, added up: in the launches before,
/// and in those that should be free of them.
struct ResolvedSums: Sendable {
    private let entries: [ResolvedEntry]
    private let byName: [String: [Int]]
    private(set) var tallies: [Tallies]
    /// The entry that covers a thing; nil: none.
    private var meaning: [TopKey: Int?] = [:]
    /// Entries that a later entry replaces, at least for a part of their things.
    private(set) var isSuperseded: [Bool]

    struct Tallies: Sendable {
        /// The walls of all newer launches.
        var newerWall = Moments()
        var olderCount = 0
        var newer = Tally()
        var older = Tally()
    }

    init(_ entries: [ResolvedEntry]) {
        self.entries = entries
        byName = Dictionary(grouping: entries.indices) { entries[$0].thing.name }
        tallies = [Tallies](repeating: Tallies(), count: entries.count)
        isSuperseded = [Bool](repeating: false, count: entries.count)
    }

    mutating func add(
        _ costs: LaunchCosts, of launch: TopLaunch, build: String, _ names: TopNames
    ) {
        guard !entries.isEmpty else { return }
        let isNewer = entries.map { $0.isOlder(than: launch, of: build) }
        for index in entries.indices {
            if isNewer[index] {
                tallies[index].newerWall.add(Double(costs.wall.nanoseconds))
            } else {
                tallies[index].olderCount += 1
            }
        }
        // One entry may cover several waits.
        var sums: [Int: (cost: TopCost, isKnown: Bool)] = [:]
        for (key, cost) in costs.costs {
            guard let index = entry(for: key, names) else { continue }
            let sum = sums[index] ?? (.zero, true)
            sums[index] = (sum.cost + cost, sum.isKnown && !costs.unknown.contains(key))
        }
        for (index, sum) in sums {
            if isNewer[index] {
                tallies[index].newer.add(sum.cost, isKnown: sum.isKnown, isUsed: true)
            } else {
                tallies[index].older.add(sum.cost, isKnown: sum.isKnown, isUsed: true)
            }
        }
    }

    /// The entry that covers a thing: of several, as some are less specific than others, the
    /// latest.
    mutating func entry(for key: TopKey, _ names: TopNames) -> Int? {
        if let known = meaning[key] { return known }
        let function = names[key.name].function
        let found = (byName[function.name] ?? []).filter {
            entries[$0].thing.isSame(as: key, called: function)
        }
        let latest = found.max { entries[$0].since < entries[$1].since }
        for index in found where index != latest { isSuperseded[index] = true }
        meaning[key] = .some(latest)
        return latest
    }

    /// The states of the entries that any launch shows.
    func states(_ quantiles: inout StudentQuantiles) -> [ResolvedState?] {
        entries.indices.map { index in
            let tallies = tallies[index]
            guard tallies.newer.seen > 0 || tallies.older.seen > 0 else { return nil }
            return ResolvedState(
                entry: entries[index],
                older: tallies.older.figures(launches: tallies.olderCount, &quantiles),
                newer: tallies.newer.figures(launches: tallies.newerWall.count, &quantiles),
                least: ResolvedState.least(ofLaunches: tallies.newerWall.mean))
        }
    }
}

/// The state of a thing that was resolved.
package struct ResolvedState: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable {
        /// It costs time again, in launches that should be free of it.
        case back
        /// It occurs in such launches, but costs next to nothing.
        case small
        /// It occurs in none of them.
        case gone
        /// There is no such launch.
        case untested
    }

    package var entry: ResolvedEntry
    /// The figures of launches that may have it.
    package var older: TopFigures
    /// The figures of launches that should be free of it.
    package var newer: TopFigures
    /// With at least this cost per launch, it is back.
    package var least: TimeSpan

    /// The larger of a tick and half a percent of a launch, as in a comparison of two recordings.
    static func least(ofLaunches wall: Double) -> TimeSpan {
        max(Wait.shortest, TimeSpan(rounding: wall / 200))
    }

    package var status: Status {
        guard newer.launches > 0 else { return .untested }
        guard newer.seen > 0 else { return .gone }
        return newer.total.map { $0.mean >= least } ?? false ? .back : .small
    }
}
