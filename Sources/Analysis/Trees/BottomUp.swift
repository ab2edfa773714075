import ProfileModel

extension Profile {
    /// Every function by its own time, with its callers below.
    ///
    /// - Parameters:
    ///   - depth: How many frames of each stack to show, from the innermost; nil for all.
    ///   - minPercent: Nodes below this share of the selection are left out. A whole tree has a
    ///     node for each frame of each stack: it is far quicker to build only the nodes that are
    ///     shown.
    package func bottomUp(
        _ selection: Selection = .all, weight: Weight, depth: Int? = nil, minPercent: Double = 0
    ) -> CallTree {
        let total = times(in: selection)
        var builder = BottomUpBuilder(
            totals: PathTotals(of: self, in: selection, weight: weight), table: paths,
            weight: weight, depth: max(1, depth ?? .max),
            least: Double(weight.of(total).nanoseconds) * minPercent / 100)
        builder.build()
        return CallTree(builder.drafts, weight: weight, total: total, frames: frames)
    }
}

/// Builds a bottom-up tree from its roots. The stacks that end in a function are divided by caller,
/// and each part again, as long as it has enough weight.
private struct BottomUpBuilder {
    let totals: PathTotals
    let table: PathTable
    let weight: Weight
    let depth: Int
    let least: Double
    private(set) var drafts: [CallTree.Draft] = []
    private var pending: [Group] = []

    /// A stack, and the position outward up to which it has been followed.
    private struct Member {
        var path: Int32
        var current: Int32
    }

    private struct Group {
        var parent: Int32
        var depth: Int
        var members: [Member]
    }

    init(totals: PathTotals, table: PathTable, weight: Weight, depth: Int, least: Double) {
        self.totals = totals
        self.table = table
        self.weight = weight
        self.depth = depth
        self.least = least
    }

    mutating func build() {
        var ends: [Member] = []
        for path in table.paths.indices where weight.of(totals.own[path]) > .zero {
            let path = Int32(truncatingIfNeeded: path)
            ends.append(Member(path: path, current: path))
        }
        divide(ends, parent: PathTable.none, depth: 1)
        while let group = pending.popLast() { add(group) }
    }

    private mutating func add(_ group: Group) {
        let total = group.members.reduce(StateTimes.zero) { $0 + totals.own[Int($1.path)] }
        guard Double(weight.of(total).nanoseconds) >= least else { return }
        let node = Int32(truncatingIfNeeded: drafts.count)
        drafts.append(
            CallTree.Draft(
                parent: group.parent, frame: frame(of: group),
                own: group.parent == PathTable.none ? total : .zero, total: total))
        guard group.depth < depth else { return }
        let callers = group.members.compactMap { member -> Member? in
            let caller = table.paths[Int(member.current)].parent
            return caller == PathTable.none ? nil : Member(path: member.path, current: caller)
        }
        divide(callers, parent: node, depth: group.depth + 1)
    }

    private mutating func divide(_ members: [Member], parent: Int32, depth: Int) {
        var groups: [Group] = []
        var places: [FunctionID: Int] = [:]
        for member in members {
            let function = table.paths[Int(member.current)].function
            if let place = places[function] {
                groups[place].members.append(member)
            } else {
                places[function] = groups.count
                groups.append(Group(parent: parent, depth: depth, members: [member]))
            }
        }
        pending += groups
    }

    /// The line is that of the heaviest stack.
    private func frame(of group: Group) -> FrameID {
        let heaviest = group.members.max {
            weight.of(totals.own[Int($0.path)]) < weight.of(totals.own[Int($1.path)])
        }
        return totals.hottest[Int(heaviest?.current ?? 0)]
    }
}
