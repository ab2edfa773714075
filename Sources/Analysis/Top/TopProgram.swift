import ProfileModel

extension TopProgram {
    init(_ sums: ProgramSums, _ resolvedNow: [ResolvedEntry], _ quantiles: inout StudentQuantiles) {
        name = sums.name
        launches = sums.launches
        let moments = sums.versions.reduce(Moments()) { $0 + $1.wall }
        wall = MeanTime(moments, &quantiles) ?? MeanTime(mean: .zero)
        wallSum = sums.versions.reduce(.zero) { $0 + $1.sum }
        let order = sums.versionOrder
        versions = order.map { TopVersion(sums.versions[$0], &quantiles) }
        remarks = TopRemarks(sums.remarks)
        resolved = sums.resolved.states(&quantiles).compactMap { $0 }
        things = [:]
        addThings(sums, order, &quantiles)
        settle(resolvedNow)
        resolved = resolved.enumerated().sorted { left, right in
            (left.element.rank, left.offset) < (right.element.rank, right.offset)
        }.map(\.element)
    }

    private mutating func addThings(
        _ sums: ProgramSums, _ order: [Int], _ quantiles: inout StudentQuantiles
    ) {
        var resolvedSums = sums.resolved
        let states = resolvedSums.states(&quantiles)
        for (key, sum) in sums.things {
            var thing = TopThing(key, sum, in: sums, order, &quantiles)
            thing.resolved = resolvedSums.entry(for: key, sums.names).flatMap { states[$0]?.status }
            things[key.kind, default: []].append(thing)
        }
        for kind in TopKind.allCases { things[kind]?.sort(by: TopThing.precedes) }
    }

    /// Marks things as resolved that were not before.
    private mutating func settle(_ entries: [ResolvedEntry]) {
        guard !entries.isEmpty else { return }
        let settled = Dictionary(entries.map { ($0.thing, $0) }) { $1 }
        resolved.removeAll { state in entries.contains { state.entry.thing.includes($0.thing) } }
        for kind in TopKind.allCases {
            for index in (things[kind] ?? []).indices {
                guard let thing = things[kind]?[index], let entry = settled[thing.thing] else {
                    continue
                }
                things[kind]?[index].resolved = .untested
                guard !resolved.contains(where: { $0.entry == entry }) else { continue }
                resolved.append(
                    ResolvedState(
                        entry: entry, older: thing.figures, newer: .none,
                        least: ResolvedState.least(ofLaunches: 0)))
            }
        }
    }
}

extension TopFigures {
    /// The figures of no launch.
    static let none = TopFigures(
        launches: 0, seen: 0, unknown: 0, unused: 0, sum: .zero, own: nil, total: nil)
}

extension TopVersion {
    fileprivate init(_ version: ProgramSums.Version, _ quantiles: inout StudentQuantiles) {
        self.init(
            buildID: version.buildID, launches: version.wall.count,
            wall: MeanTime(version.wall, &quantiles) ?? MeanTime(mean: .zero),
            first: version.first, last: version.last)
    }
}

extension TopRemarks {
    fileprivate init(_ remarks: LaunchRemarks) {
        self.init(
            failed: remarks.failed, differInEnds: remarks.ends.count > 1,
            differInCapture: remarks.captures.count > 1,
            differInArguments: remarks.commands.count > 1)
    }
}

extension TopThing {
    fileprivate init(
        _ key: TopKey, _ sum: ProgramSums.Thing, in sums: ProgramSums, _ order: [Int],
        _ quantiles: inout StudentQuantiles
    ) {
        let name = sums.names[key.name]
        let tallies = Dictionary(sum.tallies.map { ($0.version, $0.tally) }) { $1 }
        kind = key.kind
        function = name.function
        (file, line) = key.kind.isNamedAlone ? (nil, nil) : (name.file, name.line)
        reason = key.reason.map { WaitReason($0, detail: sum.detail) }
        thread = key.thread
        figures = sum.tallies.reduce(Tally()) { $0 + $1.tally }
            .figures(launches: sums.launches, &quantiles)
        byVersion = order.map { version in
            (tallies[version] ?? Tally())
                .figures(launches: sums.versions[version].wall.count, &quantiles)
        }
    }

    /// Sorted by cost over all launches; equals by name.
    fileprivate static func precedes(_ left: TopThing, _ right: TopThing) -> Bool {
        let (first, second) = (left.figures.sum, right.figures.sum)
        if first.own.wall != second.own.wall { return first.own.wall > second.own.wall }
        if first.total.wall != second.total.wall { return first.total.wall > second.total.wall }
        let names = (left.function, right.function)
        if names.0.name != names.1.name { return names.0.name < names.1.name }
        if names.0.module != names.1.module { return names.0.module < names.1.module }
        let reasons = (left.reason?.kind.rawValue ?? "", right.reason?.kind.rawValue ?? "")
        if reasons.0 != reasons.1 { return reasons.0 < reasons.1 }
        // The main thread comes first.
        return left.thread == nil
            ? right.thread != nil : right.thread.map { (left.thread ?? "") < $0 } ?? false
    }
}

extension ResolvedState.Status {
    /// Entries that are back come first.
    fileprivate var rank: Int {
        switch self {
        case .back: 0
        case .small: 1
        case .gone: 2
        case .untested: 3
        }
    }
}

extension ResolvedState {
    fileprivate var rank: Rank {
        Rank(status: status.rank, mean: newer.total?.mean ?? .zero)
    }

    fileprivate struct Rank: Comparable {
        var status: Int
        var mean: TimeSpan

        static func < (left: Rank, right: Rank) -> Bool {
            left.status == right.status ? left.mean > right.mean : left.status < right.status
        }
    }
}

extension ProgramSums {
    /// Versions with the earliest recordings come first.
    var versionOrder: [Int] {
        versions.indices.sorted {
            (versions[$0].first.date, $0) < (versions[$1].first.date, $1)
        }
    }
}
