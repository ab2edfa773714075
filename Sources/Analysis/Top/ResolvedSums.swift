package import ProfileModel

/// What things that were dealt with cost in the launches of one program, added up: in those before, and
/// in those that should do without them.
struct ResolvedSums: Sendable {
    private let entries: [ResolvedEntry]
    private let byName: [String: [Int]]
    private(set) var tallies: [Tallies]
    /// Which entry a thing is meant by; nil: none.
    private var meaning: [TopKey: Int?] = [:]
    /// Entries in whose place a later one is, for a part of what they mean at least.
    private(set) var isSuperseded: [Bool]

    struct Tallies: Sendable {
        /// Of the newer launches, whatever they had.
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
        // Several waits may be one entry.
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

    /// The one that means a thing: of several, as some say less of it than others, the latest.
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

    /// What is known of those that were seen at all.
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

/// What became of a thing that was dealt with.
package struct ResolvedState: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable {
        /// It costs time again, in launches that should do without it.
        case back
        /// It was seen in such launches, and costs next to nothing.
        case small
        /// It was seen in none of them.
        case gone
        /// There is no such launch.
        case untested
    }

    package var entry: ResolvedEntry
    /// In the launches that may have it.
    package var older: TopFigures
    /// In those that should do without it.
    package var newer: TopFigures
    /// From how much per launch on it is back.
    package var least: TimeSpan

    /// A tick, and half a percent of a launch: as where two recordings are compared.
    static func least(ofLaunches wall: Double) -> TimeSpan {
        max(Wait.shortest, TimeSpan(rounding: wall / 200))
    }

    package var status: Status {
        guard newer.launches > 0 else { return .untested }
        guard newer.seen > 0 else { return .gone }
        return newer.total.map { $0.mean >= least } ?? false ? .back : .small
    }
}
