import ProfileModel

extension ComparedTotals {
    /// Every function by its own time, with its callers below.
    ///
    /// - Parameter least: callers that have less than this on both sides are left out.
    func bottomUp(_ stacks: MergedStacks, least: TimeSpan) -> ComparedTree {
        var builder = ComparedBottomUp(totals: self, table: stacks.paths, least: least)
        builder.build()
        return ComparedTree(builder.drafts, functions: stacks.table)
    }
}

/// Builds a bottom-up tree from its roots. The stacks that end in a function are divided by caller,
/// and each part again, as long as it has enough time. ``BottomUpBuilder`` does the same for one
/// profile.
private struct ComparedBottomUp {
    let totals: ComparedTotals
    let table: PathTable
    let least: TimeSpan
    private(set) var drafts: [ComparedTree.Draft] = []
    private var pending: [Group] = []

    /// Stacks that agree from their innermost function up to `current`.
    private struct Group {
        var parent: Int32
        var members: [(path: Int, current: Int)]
    }

    init(totals: ComparedTotals, table: PathTable, least: TimeSpan) {
        self.totals = totals
        self.table = table
        self.least = least
    }

    mutating func build() {
        let ends = totals.own.indices.filter { totals.own[$0] != .zero }
        divide(ends.map { (path: $0, current: $0) }, parent: PathTable.none)
        while let group = pending.popLast() { add(group) }
    }

    private mutating func add(_ group: Group) {
        let isRoot = group.parent == PathTable.none
        let total = group.members.reduce(Compared<Cost>.zero) { $0 + totals.own[$1.path] }
        guard isRoot || total.largest >= least, let first = group.members.first else { return }
        let node = Int32(truncatingIfNeeded: drafts.count)
        drafts.append(
            ComparedTree.Draft(
                parent: group.parent, function: table.paths[first.current].function,
                frames: frames(of: group), own: isRoot ? total : .zero, total: total,
                walls: .none))
        let callers = group.members.compactMap { member -> (path: Int, current: Int)? in
            let caller = table.paths[member.current].parent
            return caller == PathTable.none ? nil : (member.path, Int(caller))
        }
        divide(callers, parent: node)
    }

    private mutating func divide(_ members: [(path: Int, current: Int)], parent: Int32) {
        var groups: [Group] = []
        var places: [FunctionID: Int] = [:]
        for member in members {
            let function = table.paths[member.current].function
            if let place = places[function] {
                groups[place].members.append(member)
            } else {
                places[function] = groups.count
                groups.append(Group(parent: parent, members: [member]))
            }
        }
        pending += groups
    }

    /// The line is that of the heaviest stack of each side.
    private func frames(of group: Group) -> Compared<SeenFrame?> {
        Compared { side in
            let seen = group.members.filter { totals.own[$0.path][side] != .zero }
            let heaviest = seen.max {
                totals.own[$0.path][side].wall < totals.own[$1.path][side].wall
            }
            return heaviest.flatMap { totals.frames[$0.current][side] }
        }
    }
}
