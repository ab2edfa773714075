import ProfileModel

/// The costs of one program's launches, added up: each launch is read once, and then released.
struct ProgramSums: Sendable {
    let name: String
    private(set) var names = TopNames()
    private(set) var versions: [Version] = []
    private(set) var things: [TopKey: Thing] = [:]
    private(set) var resolved: ResolvedSums
    private(set) var remarks = LaunchRemarks()

    /// Launches of one build.
    struct Version: Sendable {
        var buildID: [UInt8]
        var wall = Moments()
        var sum = TimeSpan.zero
        var first: TopLaunch
        var last: TopLaunch

        fileprivate mutating func add(_ wall: TimeSpan, _ launch: TopLaunch) {
            self.wall.add(Double(wall.nanoseconds))
            sum = sum + wall
            if launch.date < first.date { first = launch }
            if launch.date >= last.date { last = launch }
        }
    }

    struct Thing: Sendable {
        /// For each version, in the order in which versions were added.
        var tallies: [(version: Int, tally: Tally)] = []
        /// The object of waits; nil: several objects.
        var detail: String?
    }

    init(name: String, resolved: [ResolvedEntry]) {
        self.name = name
        self.resolved = ResolvedSums(resolved)
    }

    /// The sums from a store.
    init(_ stored: StoredTop) {
        self.init(name: stored.program, resolved: [])
        versions = stored.versions.map { version in
            Version(
                buildID: version.buildID,
                wall: Moments(of: version.launches, sum: version.sum, squares: version.squares),
                sum: version.sum, first: version.first, last: version.last)
        }
        for sums in stored.things {
            let thing = sums.thing
            let key = TopKey(
                thing.kind, names.append(thing), reason: thing.reason, thread: thing.thread)
            things[key] = Thing(
                tallies: sums.tallies.map { ($0.version, Tally($0)) }, detail: sums.detail)
        }
        remarks = LaunchRemarks(stored)
    }

    /// - Parameter phases: as for ``LaunchCosts``.
    mutating func add(_ profile: Profile, _ launch: TopLaunch, phases: Set<Int>?) {
        let costs = LaunchCosts(of: profile, phases: phases, &names)
        let buildID = profile.programBuildID
        let version = index(of: buildID, launch)
        versions[version].add(costs.wall, launch)
        for (key, cost) in costs.costs {
            let isNew = things[key] == nil
            let detail = costs.details[key] ?? nil
            things[key, default: Thing(detail: detail)].add(
                cost, of: version, isKnown: !costs.unknown.contains(key),
                isUsed: !costs.unused.contains(key))
            if !isNew, things[key]?.detail != detail { things[key]?.detail = nil }
        }
        resolved.add(costs, of: launch, build: buildID.hex, names)
        remarks.add(profile)
    }

    private mutating func index(of buildID: [UInt8], _ launch: TopLaunch) -> Int {
        // There are few versions.
        if let known = versions.firstIndex(where: { $0.buildID == buildID }) { return known }
        versions.append(Version(buildID: buildID, first: launch, last: launch))
        return versions.count - 1
    }

    var launches: Int { versions.reduce(0) { $0 + $1.wall.count } }
}

extension ProgramSums.Thing {
    fileprivate mutating func add(
        _ cost: TopCost, of version: Int, isKnown: Bool, isUsed: Bool
    ) {
        // Recordings come in the order of their dates, so this is mostly the last one's version.
        let position = tallies.lastIndex { $0.version == version } ?? tallies.count
        if position == tallies.count { tallies.append((version, Tally())) }
        tallies[position].tally.add(cost, isKnown: isKnown, isUsed: isUsed)
    }
}

/// Facts about launches that the reader must know before trusting their mean.
struct LaunchRemarks: Sendable {
    /// Launches that a signal or another exit status than 0 ended.
    private(set) var failed = 0
    /// The conditions that ended launches, and the ways in which stacks were taken; only a few are
    /// kept.
    private(set) var ends: Set<String> = []
    private(set) var captures: Set<String> = []
    private(set) var commands: Set<[String]> = []
    private static let most = 4

    init() {}

    /// Only the number of different ones counts.
    init(_ stored: StoredTop) {
        func names(_ count: Int) -> [String] {
            (0..<min(max(count, 0), Self.most)).map(String.init)
        }
        failed = stored.failed
        ends = Set(names(stored.ends))
        captures = Set(names(stored.captures))
        commands = Set(names(stored.commands).map { [$0] })
    }

    mutating func add(_ profile: Profile) {
        if profile.isFailed { failed += 1 }
        Self.add(profile.ready?.by ?? "", to: &ends)
        Self.add(profile.captureName, to: &captures)
        Self.add(profile.program.arguments, to: &commands)
    }

    private static func add<Element>(_ element: Element, to set: inout Set<Element>) {
        if set.count < most { set.insert(element) }
    }
}

extension Profile {
    /// True if a signal or another exit status than 0 ended the program.
    package var isFailed: Bool {
        switch header.outcome {
        case .exited(0), .running, .unknown: false
        case .exited, .signalled: true
        }
    }

    /// The way in which stacks were taken: "signal 1000".
    package var captureName: String { "\(header.capture.rawValue) \(header.frequency)" }

    /// Empty: not known.
    package var programBuildID: [UInt8] {
        guard let module = programModule, modules.indices.contains(module.rawValue) else {
            return []
        }
        return modules[module.rawValue].buildID
    }
}
