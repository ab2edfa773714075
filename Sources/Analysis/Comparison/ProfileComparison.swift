package import ProfileModel

/// Compares launches before and after a change, and shows where the difference comes from. Each
/// side has one launch, or several; with several, their means per launch are compared.
///
/// Functions are the same if their names and their modules' file names are. Phases are the same if
/// their names are. Where one launch has a phase undivided and another has its parts, the parts
/// take the name of the whole. The differences of the phases' walls add up exactly to that of the
/// launches, and the main thread's times in a phase add up to the phase's.
///
/// Pure and deterministic: the same recordings give the same answers, in the same order.
package struct ProfileComparison: Sendable {
    /// At least one launch on each side.
    package let launches: Compared<[Profile]>
    /// The functions of all launches. Where launches differ in a function's properties, the later
    /// one's count.
    package let functions: FrameTable
    /// In the order of the first launch; a phase that only others have comes after its predecessor
    /// there.
    package let phases: [ComparedPhase]
    /// The largest change first.
    package let waits: [ComparedWait]
    /// The largest change first.
    package let initializers: [ComparedInitializer]
    /// Libraries that only one side loaded first.
    package let libraries: [ComparedLibrary]
    /// The processes that the launches started, by name: with `--follow-children` only.
    package let processes: [ComparedProcess]
    /// The largest change first.
    package let findings: [ComparedFinding]
    private let rule: ChangeRule

    package init(before: Profile, after: Profile) {
        self.init(first: Compared(before: before, after: after))
    }

    /// - Parameters:
    ///   - first: the first launch of each side.
    ///   - others: the other launches of each side.
    package init(
        first: Compared<Profile>, others: Compared<[Profile]> = Compared(before: [], after: [])
    ) {
        let launches = Compared { [first[$0]] + others[$0] }.withAlikePhases
        let stacks = MergedStacks(launches)
        let rule = ChangeRule(least: Self.leastChange(launches))
        self.launches = launches
        self.rule = rule
        functions = stacks.table
        var means = PhaseMeans(launches)
        phases = PhaseMatch.all(launches).map {
            ComparedPhase($0, of: launches, stacks, means: &means, rule: rule)
        }
        waits = ComparedWait.all(launches, stacks)
        initializers = ComparedInitializer.all(launches, stacks)
        libraries = ComparedLibrary.all(launches)
        processes = ComparedProcess.all(launches)
        findings = ComparedFinding.all(launches, stacks)
        profiles = launches.map { $0[0] }
    }

    /// The first launch of each side.
    package let profiles: Compared<Profile>

    /// With several launches, the means.
    package var wall: Compared<TimeSpan> { mean(\.launch.wall) }
    package var cpu: Compared<TimeSpan> { mean(\.launch.cpu) }
    package var blocked: Compared<TimeSpan> {
        phases.reduce(.zero) { $0 + $1.blocked }
    }

    private func mean(_ time: (Profile) -> TimeSpan) -> Compared<TimeSpan> {
        launches.map { launches in
            launches.reduce(.zero) { $0 + time($1) }.mean(of: launches.count)
        }
    }

    /// A smaller difference of wall time is not a change.
    package var leastChange: TimeSpan { rule.least }

    /// Whether both sides have several launches. Then a difference counts as a change only if its
    /// interval leaves out 0.
    package var knowsSpread: Bool { launches.areSeveral }

    /// Whether a difference is large enough, and certain enough, to be a change.
    package func isChange(_ wall: Compared<TimeSpan>, _ walls: LaunchWalls) -> Bool {
        rule.isChange(wall, walls)
    }

    /// Whether the difference between the sides' launches is more than chance, as far as is known.
    package func isSure(_ walls: LaunchWalls) -> Bool { walls.interval?.excludesZero ?? true }

    /// nil: a side is a single launch.
    package func interval(of walls: LaunchWalls) -> ChangeInterval? {
        walls.interval.flatMap(ChangeInterval.init)
    }

    /// The walls of the launches themselves.
    package var walls: LaunchWalls {
        launches.areSeveral ? launches.map { $0.map(\.launch.wall) } : .none
    }

    /// The larger of one tick and half a percent of the longer launch.
    private static func leastChange(_ launches: Compared<[Profile]>) -> TimeSpan {
        let walls = launches.map { launches in
            launches.reduce(TimeSpan.zero) { $0 + $1.launch.wall }.mean(of: launches.count)
        }
        let longest = max(walls.before, walls.after)
        return max(Wait.shortest, TimeSpan(nanoseconds: longest.nanoseconds / 200))
    }
}

extension ProfileComparison {
    /// The positions of the phases that the user named: by a name, or the beginning of one. Case
    /// does not matter.
    package func phases(named wanted: String) throws(SelectionError) -> Set<Int> {
        let names = phases.map(\.name)
        guard let found = PhaseNames.positions(of: wanted, in: names) else {
            throw .unknownPhase(wanted, known: names)
        }
        return found
    }
}

/// Finds phases by the name that the user gave.
enum PhaseNames {
    /// Phases by their own names, or all parts of the whole that has this name; nil: there is none,
    /// or several names begin with it.
    static func match(
        _ wanted: String, in phases: [Phase]
    ) -> (name: String, positions: Set<Int>)? {
        for names in [phases.map(\.name), phases.map(\.wholeName)] {
            guard let positions = positions(of: wanted, in: names) else { continue }
            guard let name = positions.min().map({ names[$0] }) else { continue }
            return (name, positions)
        }
        return nil
    }

    /// The phases of this name, or of the only name that begins with it; nil: there is none, or
    /// several names begin with it.
    static func positions(of wanted: String, in names: [String]) -> Set<Int>? {
        let folded = wanted.lowercased()
        let names = names.map { $0.lowercased() }
        let equal = names.indices.filter { names[$0] == folded }
        if !equal.isEmpty { return Set(equal) }
        let matching = folded.isEmpty ? [] : names.indices.filter { names[$0].hasPrefix(folded) }
        return Set(matching.map { names[$0] }).count == 1 ? Set(matching) : nil
    }
}
