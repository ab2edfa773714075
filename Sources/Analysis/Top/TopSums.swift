import ProfileModel

/// The costs of many launches, added up one by one. Memory grows with the differences between them,
/// not with their number.
///
/// Functions are the same if their names and their modules' file names are, as in a comparison of
/// two recordings. Programs are the same if their names are.
package struct TopSums: Sendable {
    /// The wanted phase; nil: all of the launch.
    package let phase: String?
    private(set) var programs: [ProgramSums] = []
    let resolved: [ResolvedEntry]
    /// The phase names that matched the wanted one, and the phases of launches without a match.
    private var found: Set<String> = []
    private var others: [String] = []

    private static let mostNames = 100

    /// - Parameter resolved: the things that were resolved.
    package init(phase: String? = nil, resolved: [ResolvedEntry] = []) {
        self.phase = phase
        self.resolved = resolved.latest
    }

    /// Takes sums from a store.
    ///
    /// - Parameter phase: its full name; nil: all of the launch.
    package init(_ stored: [StoredTop], phase: String? = nil) {
        self.init(phase: phase)
        programs = stored.map { ProgramSums($0) }
        found = phase.map { [$0] } ?? []
    }

    /// Adds a launch. Newer launches must come after older ones, because the last one decides the
    /// names of things.
    package mutating func add(_ profile: Profile, _ launch: TopLaunch) {
        let name = profile.program.subject
        let position = programs.firstIndex { $0.name == name } ?? programs.count
        if position == programs.count {
            programs.append(ProgramSums(name: name, resolved: resolved))
        }
        programs[position].add(profile, launch, phases: phase.map { phases(named: $0, profile) })
    }

    /// Empty: the launch has no such phase, and spent no time in it.
    private mutating func phases(named wanted: String, _ profile: Profile) -> Set<Int> {
        guard let match = PhaseNames.match(wanted, in: profile.phases) else {
            for name in profile.phases.map(\.name)
            where others.count < Self.mostNames && !others.contains(name) {
                others.append(name)
            }
            return []
        }
        if found.count < Self.mostNames { found.insert(match.name) }
        return match.positions
    }

    /// A phase by its whole name, from the names of all phases.
    package static func phase(
        named wanted: String, in names: [String]
    ) throws(TopError) -> String {
        guard let places = PhaseNames.positions(of: wanted, in: names) else {
            throw .unknownPhase(wanted, known: names)
        }
        let found = Set(places.map { names[$0] }).sorted()
        guard let name = found.first, found.count == 1 else {
            throw .severalPhases(wanted, found: found)
        }
        return name
    }

    /// The number of launches that were added.
    package var launches: Int { programs.reduce(0) { $0 + $1.launches } }

    /// The full name of the phase; nil: none was wanted. Throws unless all launches with such a
    /// phase mean the same one.
    package func phaseName() throws(TopError) -> String? {
        guard let phase else { return nil }
        guard let name = found.min() else { throw .unknownPhase(phase, known: others) }
        guard found.count == 1 else { throw .severalPhases(phase, found: found.sorted()) }
        return name
    }
}

/// A question that the recordings cannot answer.
package enum TopError: Error, Hashable, CustomStringConvertible {
    case unknownPhase(String, known: [String])
    case severalPhases(String, found: [String])
    case unknownThing(String)
    case severalThings(String, found: [String])

    package var description: String {
        switch self {
        case .unknownPhase(let name, let known):
            "no phase '\(name)' in these recordings; they have: \(Self.list(known))"
        case .severalPhases(let name, let found):
            "'\(name)' stands for several phases: \(Self.list(found)); give the whole name"
        case .unknownThing(let name):
            "nothing in these recordings is called '\(name)'; give a name as it is shown, or its "
                + "beginning"
        case .severalThings(let name, let found):
            "'\(name)' is the beginning of several names: \(Self.list(found)); give the whole name"
        }
    }

    private static func list(_ names: [String]) -> String {
        let limit = 12
        let more = names.count > limit ? " and \(names.count - limit) more" : ""
        return names.isEmpty ? "none" : names.prefix(limit).joined(separator: ", ") + more
    }
}
