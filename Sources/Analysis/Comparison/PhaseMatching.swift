package import ProfileModel

/// The phases of one name in all launches. Signposts can give several of a launch the same name.
struct PhaseMatch: Hashable {
    var name: String
    /// In each launch's list; empty: that launch has no such phase.
    var indices: Compared<[[Int]]>

    /// In the order of the first launch; a phase that only others have comes after its predecessor
    /// there.
    static func all(_ launches: Compared<[Profile]>) -> [PhaseMatch] {
        let phases = launches.map { $0.map(\.phases) }
        var order: [String] = []
        for phase in phases.before.first ?? [] where !order.contains(phase.name) {
            order.append(phase.name)
        }
        for phases in phases.before.dropFirst() + phases.after {
            order.insert(phases.map(\.name))
        }
        return order.map { name in
            PhaseMatch(
                name: name,
                indices: phases.map { lists in
                    lists.map { list in list.indices.filter { list[$0].name == name } }
                })
        }
    }
}

extension [String] {
    /// Inserts each name that is missing, after its predecessor.
    fileprivate mutating func insert(_ names: [String]) {
        var place = 0
        for name in names {
            if let known = firstIndex(of: name) {
                place = known + 1
            } else {
                insert(name, at: place)
                place += 1
            }
        }
    }
}

/// A phase of both sides; with several launches, the means.
package struct ComparedPhase: Sendable {
    package struct Figures: Hashable, Sendable {
        package var wall: TimeSpan
        /// Of all threads.
        package var cpu: TimeSpan
        package var mainThread: StateTimes
    }

    package var name: String
    /// nil: no launch of that side has such a phase.
    package var figures: Compared<Figures?>
    /// What the main thread did, callers above callees. On each side its nodes' own walls add up to
    /// the phase's, and so do the differences.
    package var topDown: ComparedTree
    /// The same by function, with the callers below; the roots add up in the same way.
    package var bottomUp: ComparedTree
    /// The largest change of own time first; own times add up in the same way.
    package var functions: [ComparedFunction]
    /// Where the difference comes from, the largest first.
    package var changes: [Change]
    /// The phase's wall in each launch.
    package var walls: LaunchWalls

    /// Zero for a phase that is missing.
    package var wall: Compared<TimeSpan> { figures.map { $0?.wall ?? .zero } }
    package var cpu: Compared<TimeSpan> { figures.map { $0?.cpu ?? .zero } }
    package var blocked: Compared<TimeSpan> { figures.map { $0?.mainThread.blocked ?? .zero } }
    /// Whether both sides have it.
    package var isCommon: Bool { figures.before != nil && figures.after != nil }
}

extension ComparedPhase {
    /// Callers with less than this part of the phase are left out of the bottom-up tree.
    static let leastCaller: Int64 = 200

    /// - Parameters:
    ///   - means: divide the sums; the same dividers serve all phases in turn.
    init(
        _ match: PhaseMatch, of launches: Compared<[Profile]>, _ stacks: MergedStacks,
        means: inout PhaseMeans, rule: ChangeRule
    ) {
        name = match.name
        let parts = Compared { side in
            zip(launches[side], match.indices[side]).map { Figures($0.phases, at: $1) }
        }
        let walls = parts.map { $0.map { $0?.wall ?? .zero } }
        figures = means.figures(of: parts)
        self.walls = launches.areSeveral ? walls : .none
        let wall = figures.map { $0?.wall ?? .zero }
        let selection = match.indices.map { launches in
            launches.map { indices -> Selection? in
                indices.isEmpty ? nil : Selection(phases: Set(indices), isOfMainThread: true)
            }
        }
        let totals = ComparedTotals(
            of: launches, in: selection, walls: walls, means: &means.costs, stacks)
        let longest = max(wall.before, wall.after).nanoseconds
        topDown = totals.topDown(stacks)
        bottomUp = totals.bottomUp(
            stacks, least: TimeSpan(nanoseconds: longest / Self.leastCaller))
        functions = totals.functions(stacks)
        let isCommon = figures.before != nil && figures.after != nil
        changes = ChangeSearch(
            tree: topDown, launches: launches, functions: stacks.table,
            isCommonPhase: isCommon, rule: rule
        ).changes()
    }
}

extension ComparedPhase.Figures {
    /// nil: there is no such phase.
    init?(_ phases: [Phase], at indices: [Int]) {
        guard !indices.isEmpty else { return nil }
        self.init(wall: .zero, cpu: .zero, mainThread: .zero)
        for phase in indices.map({ phases[$0] }) {
            wall = wall + phase.wall
            cpu = cpu + phase.cpu
            mainThread = mainThread + phase.mainThread
        }
    }
}

/// Divides the sums of phases by the number of launches, so that the means of all phases add up to
/// the launches' mean.
struct PhaseMeans {
    private var walls: Compared<MeanDivider>
    private var cpu: Compared<MeanDivider>
    private var running: Compared<MeanDivider>
    private var runnable: Compared<MeanDivider>
    private var preempted: Compared<MeanDivider>
    private var blocked: Compared<MeanDivider>
    /// For the main thread's costs.
    var costs: Compared<CostDivider>

    init(_ launches: Compared<[Profile]>) {
        let means = launches.map { MeanDivider($0.count) }
        (walls, cpu, running) = (means, means, means)
        (runnable, preempted, blocked) = (means, means, means)
        costs = launches.map { CostDivider($0.count) }
    }

    /// - Parameter parts: one for each launch; nil: the launch has no such phase.
    mutating func figures(
        of parts: Compared<[ComparedPhase.Figures?]>
    ) -> Compared<ComparedPhase.Figures?> {
        var result = Compared<ComparedPhase.Figures?>(before: nil, after: nil)
        for side in Side.allCases {
            let present = parts[side].compactMap { $0 }
            guard !present.isEmpty else { continue }
            func sum(_ time: (ComparedPhase.Figures) -> TimeSpan) -> TimeSpan {
                present.reduce(.zero) { $0 + time($1) }
            }
            var states = StateTimes.zero
            states.running = running[side].mean(of: sum(\.mainThread.running))
            states.runnable = runnable[side].mean(of: sum(\.mainThread.runnable))
            states.preempted = preempted[side].mean(of: sum(\.mainThread.preempted))
            states.blocked = blocked[side].mean(of: sum(\.mainThread.blocked))
            result[side] = ComparedPhase.Figures(
                wall: walls[side].mean(of: sum(\.wall)), cpu: cpu[side].mean(of: sum(\.cpu)),
                mainThread: states)
        }
        return result
    }
}
