package import ProfileModel

/// The phases of one name in two profiles. Signposts can give several of a launch the same name.
struct PhaseMatch: Hashable {
    var name: String
    /// In the profiles' lists; empty: that launch has no such phase.
    var indices: Compared<[Int]>

    /// In the order of the earlier launch; what only the later one has comes behind what it follows
    /// there.
    static func all(_ profiles: Compared<Profile>) -> [PhaseMatch] {
        let phases = profiles.map(\.phases)
        var order: [String] = []
        for phase in phases.before where !order.contains(phase.name) { order.append(phase.name) }
        var place = 0
        for phase in phases.after {
            if let known = order.firstIndex(of: phase.name) {
                place = known + 1
            } else {
                order.insert(phase.name, at: place)
                place += 1
            }
        }
        return order.map { name in
            PhaseMatch(
                name: name,
                indices: phases.map { list in list.indices.filter { list[$0].name == name } })
        }
    }
}

/// A phase of two launches.
package struct ComparedPhase: Sendable {
    package struct Figures: Hashable, Sendable {
        package var wall: TimeSpan
        /// Of all threads.
        package var cpu: TimeSpan
        package var mainThread: StateTimes
    }

    package var name: String
    /// nil: that launch has no such phase.
    package var figures: Compared<Figures?>
    /// What the main thread did, callers above callees. The own walls of its nodes add up to the
    /// phase's on each side, and so do the differences.
    package var topDown: ComparedTree
    /// The same by function, with the callers below: the roots add up like that.
    package var bottomUp: ComparedTree
    /// The largest change of its own time first; own times add up like that.
    package var functions: [ComparedFunction]
    /// Where the difference comes from, the largest first.
    package var changes: [Change]

    /// Nothing for a phase that is not there.
    package var wall: Compared<TimeSpan> { figures.map { $0?.wall ?? .zero } }
    package var cpu: Compared<TimeSpan> { figures.map { $0?.cpu ?? .zero } }
    package var blocked: Compared<TimeSpan> { figures.map { $0?.mainThread.blocked ?? .zero } }
    /// Whether both launches have it.
    package var isCommon: Bool { figures.before != nil && figures.after != nil }
}

extension ComparedPhase {
    /// Callers with less than this part of the phase are left out of the bottom-up tree.
    static let leastCaller: Int64 = 200

    /// - Parameter least: what is no change.
    init(
        _ match: PhaseMatch, of profiles: Compared<Profile>, _ stacks: MergedStacks,
        least: TimeSpan
    ) {
        name = match.name
        figures = Compared { Figures(profiles[$0].phases, at: match.indices[$0]) }
        let wall = figures.map { $0?.wall ?? .zero }
        let selection = match.indices.map { indices -> Selection? in
            indices.isEmpty ? nil : Selection(phases: Set(indices), isOfMainThread: true)
        }
        let totals = ComparedTotals(of: profiles, in: selection, wall: wall, stacks)
        let longest = max(wall.before, wall.after).nanoseconds
        topDown = totals.topDown(stacks)
        bottomUp = totals.bottomUp(
            stacks, least: TimeSpan(nanoseconds: longest / Self.leastCaller))
        functions = totals.functions(stacks)
        let isCommon = figures.before != nil && figures.after != nil
        changes = ChangeSearch(
            tree: topDown, frames: profiles.map(\.frames), functions: stacks.table,
            isCommonPhase: isCommon, least: least
        ).changes()
    }
}

extension ComparedPhase.Figures {
    /// nil: there is none.
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
