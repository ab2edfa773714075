package import ProfileModel

/// Two launches compared: phases side by side, and where the difference comes from.
///
/// Functions are the same if name and module's file name are, phases if their names are. The
/// differences of the phases' walls add up to that of the launches exactly, and what the main
/// thread did in a phase adds up to the phase's.
///
/// Pure and deterministic: the same recordings give the same answers, in the same order.
package struct ProfileComparison: Sendable {
    package let profiles: Compared<Profile>
    /// Those of both profiles. Where they differ in what they belong to, as of the later one.
    package let functions: FrameTable
    /// In the order of the earlier launch; what only the later one has is put in where it came.
    package let phases: [ComparedPhase]
    /// The largest change first.
    package let waits: [ComparedWait]
    /// The largest change first.
    package let initializers: [ComparedInitializer]
    /// What came or went first.
    package let libraries: [ComparedLibrary]
    /// The largest change first.
    package let findings: [ComparedFinding]
    /// What is no change: less than this of wall time.
    package let leastChange: TimeSpan

    package init(before: Profile, after: Profile) {
        let profiles = Compared(before: before, after: after)
        let stacks = MergedStacks(profiles)
        let least = Self.leastChange(profiles)
        self.profiles = profiles
        functions = stacks.table
        leastChange = least
        phases = PhaseMatch.all(profiles).map {
            ComparedPhase($0, of: profiles, stacks, least: least)
        }
        waits = ComparedWait.all(profiles, stacks)
        initializers = ComparedInitializer.all(profiles, stacks)
        libraries = ComparedLibrary.all(profiles)
        findings = ComparedFinding.all(profiles, stacks)
    }

    package var wall: Compared<TimeSpan> { profiles.map(\.launch.wall) }
    package var cpu: Compared<TimeSpan> { profiles.map(\.launch.cpu) }
    package var blocked: Compared<TimeSpan> {
        phases.reduce(.zero) { $0 + $1.blocked }
    }

    /// A tick, and half a percent of the longer launch.
    private static func leastChange(_ profiles: Compared<Profile>) -> TimeSpan {
        let longest = max(profiles.before.launch.wall, profiles.after.launch.wall)
        return max(Wait.shortest, TimeSpan(nanoseconds: longest.nanoseconds / 200))
    }
}

extension ProfileComparison {
    /// The positions of the phases that a user's word means: a name, or the beginning of one, in any
    /// case.
    package func phases(named wanted: String) throws(SelectionError) -> Set<Int> {
        let names = phases.map(\.name)
        guard let found = PhaseNames.positions(of: wanted, in: names) else {
            throw .unknownPhase(wanted, known: names)
        }
        return found
    }
}

/// What a user's word for a phase means.
enum PhaseNames {
    /// Those of the name, or of the one name that begins so; nil: there is none, or several begin so.
    static func positions(of wanted: String, in names: [String]) -> Set<Int>? {
        let folded = wanted.lowercased()
        let names = names.map { $0.lowercased() }
        let equal = names.indices.filter { names[$0] == folded }
        if !equal.isEmpty { return Set(equal) }
        let matching = folded.isEmpty ? [] : names.indices.filter { names[$0].hasPrefix(folded) }
        return Set(matching.map { names[$0] }).count == 1 ? Set(matching) : nil
    }
}
