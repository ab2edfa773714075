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

/// A library of both sides, matched by the name of its file.
package struct ComparedLibrary: Hashable, Sendable {
    package var name: String
    /// In how many launches of each side it was loaded. If it was loaded several times in a launch,
    /// each time counts.
    package var loads: Compared<Int>
    /// The time of its `dlopen`; of its initialisers if it was loaded at start-up; zero where
    /// neither is known. With several launches, the mean.
    package var wall: Compared<TimeSpan>
    /// The same in each launch.
    package var walls: LaunchWalls
}

extension ComparedLibrary {
    private struct Identity: Hashable {
        var name: String
        /// Several libraries of one name are matched in the order of their loading.
        var place: Int
    }

    /// Libraries that only one side loaded first; then by the change of their cost, the largest
    /// first.
    static func all(_ launches: Compared<[Profile]>) -> [ComparedLibrary] {
        var found: [(name: String, loads: Compared<Int>, sums: LaunchSums)] = []
        var known: [Identity: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                var places: [String: Int] = [:]
                for library in profile.libraries {
                    let name = library.fileName
                    let identity = Identity(name: name, place: places[name, default: 0])
                    places[name, default: 0] += 1
                    let position = known[identity] ?? found.count
                    if position == found.count {
                        known[identity] = position
                        found.append((name, .zero, LaunchSums(launches)))
                    }
                    found[position].loads[side] += 1
                    found[position].sums.add(library.cost, to: launch, side)
                }
            }
        }
        let sorted = found.map {
            ComparedLibrary(
                name: $0.name, loads: $0.loads, wall: $0.sums.means, walls: $0.sums.walls)
        }.sortedByChange(\.wall)
        return sorted.filter { !$0.isCommon } + sorted.filter(\.isCommon)
    }

    /// Whether both sides loaded it.
    package var isCommon: Bool { loads.before > 0 && loads.after > 0 }
}

extension LibraryFigures {
    fileprivate var fileName: String { String(Module(path: path).name) }

    fileprivate var cost: TimeSpan { wall ?? initializers ?? .zero }
}

/// An initialiser on both sides. If it ran several times in a launch, all runs are added up. With
/// several launches, figures are means.
package struct ComparedInitializer: Hashable, Sendable {
    /// Of ``ProfileComparison/functions``.
    package var function: FunctionID
    /// One of its runs, for the place in the source; nil: it did not run, or was not seen.
    package var frames: Compared<SeenFrame?>
    package var wall: Compared<TimeSpan>
    package var cpu: Compared<TimeSpan>
    /// The wall in each launch.
    package var walls: LaunchWalls
}

extension ComparedInitializer {
    /// The largest change first.
    static func all(
        _ launches: Compared<[Profile]>, _ stacks: MergedStacks
    ) -> [ComparedInitializer] {
        var found: [Runs] = []
        var known: [FunctionID: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                for run in profile.initializers {
                    let frame = SeenFrame(launch: launch, frame: run.frame)
                    let function = stacks.function(of: frame, in: launches, side)
                    let position = known[function] ?? found.count
                    if position == found.count {
                        known[function] = position
                        found.append(Runs(function, launches))
                    }
                    found[position].add(run, frame, side)
                }
            }
        }
        return found.map(\.compared).sortedByChange(\.wall)
    }

    /// All runs of one initialiser.
    private struct Runs {
        let function: FunctionID
        private var frames = Compared<SeenFrame?>(before: nil, after: nil)
        private var walls: LaunchSums
        private var cpu: LaunchSums

        init(_ function: FunctionID, _ launches: Compared<[Profile]>) {
            self.function = function
            (walls, cpu) = (LaunchSums(launches), LaunchSums(launches))
        }

        mutating func add(_ run: InitializerFigures, _ frame: SeenFrame, _ side: Side) {
            if frames[side] == nil { frames[side] = frame }
            walls.add(run.wall, to: frame.launch, side)
            cpu.add(run.cpu, to: frame.launch, side)
        }

        var compared: ComparedInitializer {
            ComparedInitializer(
                function: function, frames: frames, wall: walls.means, cpu: cpu.means,
                walls: walls.walls)
        }
    }
}

/// All processes of one name that the launches of both sides started.
package struct ComparedProcess: Hashable, Sendable {
    /// The name of the program that they ended up running.
    package var name: String
    /// In all launches of the side.
    package var counts: Compared<Int>
    /// From their forks to their ends, added up; with several launches, the means.
    package var wall: Compared<TimeSpan>
    package var cpu: Compared<TimeSpan>
    /// The wall in each launch.
    package var walls: LaunchWalls
    /// True if the mean number of these processes per launch differs between the sides.
    package var isOfOtherCount: Bool
}

extension ComparedProcess {
    /// Processes whose number differs between the sides first; then the largest change of wall.
    static func all(_ launches: Compared<[Profile]>) -> [ComparedProcess] {
        var found: [Sum] = []
        var known: [String: Int] = [:]
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                for process in profile.processes where process.child != nil {
                    let position = known[process.name] ?? found.count
                    if position == found.count {
                        known[process.name] = position
                        found.append(Sum(process.name, launches))
                    }
                    found[position].add(process, of: launch, side, wall: profile.launch.wall)
                }
            }
        }
        let sorted = found.map { $0.compared(launches) }.sortedByChange(\.wall)
        return sorted.filter(\.isOfOtherCount) + sorted.filter { !$0.isOfOtherCount }
    }

    private struct Sum {
        let name: String
        private var counts = Compared<Int>.zero
        private var walls: LaunchSums
        private var cpu: LaunchSums

        init(_ name: String, _ launches: Compared<[Profile]>) {
            self.name = name
            (walls, cpu) = (LaunchSums(launches), LaunchSums(launches))
        }

        /// - Parameter wall: the launch's; a process that outlives the launch counts up to its end.
        mutating func add(
            _ process: ProcessFigures, of launch: Int, _ side: Side, wall: TimeSpan
        ) {
            counts[side] += 1
            walls.add(max(.zero, (process.end ?? wall) - process.start), to: launch, side)
            cpu.add(process.cpu, to: launch, side)
        }

        func compared(_ launches: Compared<[Profile]>) -> ComparedProcess {
            // As fractions, without dividing.
            let isOther =
                counts.before * launches.after.count != counts.after * launches.before.count
            return ComparedProcess(
                name: name, counts: counts, wall: walls.means, cpu: cpu.means, walls: walls.walls,
                isOfOtherCount: isOther)
        }
    }
}
