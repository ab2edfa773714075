import ProfileModel

/// The times of every path of ``MergedStacks`` in a part of two profiles.
struct ComparedTotals {
    /// Of slices whose stack ends in the path.
    private(set) var own: [Compared<Cost>]
    /// Of slices whose stack goes through the path.
    private(set) var total: [Compared<Cost>]
    /// The line at which each path's function had the most wall time in each profile.
    private(set) var frames: [Compared<FrameID?>]

    /// - Parameters:
    ///   - selection: of each profile; nil: it has no part in this.
    ///   - wall: what the times must add up to. What the slices lack of it is charged to a path of
    ///     its own.
    init(
        of profiles: Compared<Profile>, in selection: Compared<Selection?>,
        wall: Compared<TimeSpan>, _ stacks: MergedStacks
    ) {
        let count = stacks.paths.paths.count
        own = [Compared<Cost>](repeating: .zero, count: count)
        total = own
        frames = [Compared<FrameID?>](repeating: Compared(before: nil, after: nil), count: count)
        for side in Side.allCases {
            var rest = wall[side]
            if let selection = selection[side] {
                let totals = PathTotals(of: profiles[side], in: selection, weight: .wall)
                add(totals, stacks.places[side], side)
                rest = rest - totals.own.reduce(.zero) { $0 + $1.wall }
            }
            addUnrecorded(rest, stacks, side)
        }
    }

    private mutating func add(_ totals: PathTotals, _ places: [Int32], _ side: Side) {
        for (path, place) in places.enumerated() where totals.total[path] != .zero {
            let place = Int(place)
            own[place][side] = own[place][side] + Cost(totals.own[path])
            total[place][side] = total[place][side] + Cost(totals.total[path])
            if frames[place][side] == nil { frames[place][side] = totals.hottest[path] }
        }
    }

    /// Negative where a damaged recording tells of more than there was time for.
    private mutating func addUnrecorded(_ wall: TimeSpan, _ stacks: MergedStacks, _ side: Side) {
        guard wall != .zero else { return }
        let place = Int(stacks.unrecorded)
        own[place][side] = own[place][side] + Cost(wall: wall)
        total[place][side] = total[place][side] + Cost(wall: wall)
    }
}

extension ComparedTotals {
    /// Callers above callees.
    func topDown(_ stacks: MergedStacks) -> ComparedTree {
        var drafts: [ComparedTree.Draft] = []
        var positions = [Int32](repeating: PathTable.none, count: total.count)
        for (index, path) in stacks.paths.paths.enumerated() where total[index] != .zero {
            positions[index] = Int32(truncatingIfNeeded: drafts.count)
            drafts.append(
                ComparedTree.Draft(
                    parent: path.parent == PathTable.none
                        ? PathTable.none : positions[Int(path.parent)],
                    function: path.function, frames: frames[index], own: own[index],
                    total: total[index]))
        }
        return ComparedTree(drafts, functions: stacks.table)
    }

    /// Every function by its own time and by that of what it called, too; the largest change of
    /// its own time first.
    func functions(_ stacks: MergedStacks) -> [ComparedFunction] {
        var figures = stacks.table.functions.indices.map {
            ComparedFunction(
                function: FunctionID(Int32(truncatingIfNeeded: $0)), own: .zero, total: .zero)
        }
        for (index, path) in stacks.paths.paths.enumerated() {
            let function = Int(path.function.rawValue)
            figures[function].own = figures[function].own + own[index]
            if stacks.isOutermost[index] {
                figures[function].total = figures[function].total + total[index]
            }
        }
        return figures.filter { $0.total != .zero }.sorted { left, right in
            left.own.isLarger(than: right.own) ?? left.total.isLarger(than: right.total)
                ?? stacks.table.precedes(left.function, right.function)
        }
    }
}

/// What a function cost in two profiles, over all the stacks that it occurs in.
package struct ComparedFunction: Hashable, Sendable {
    /// Of ``ProfileComparison/functions``.
    package var function: FunctionID
    /// While it was the innermost frame. What was waited for is a frame of its own.
    package var own: Compared<Cost>
    /// While it was anywhere in the stack; recursion is counted once.
    package var total: Compared<Cost>
}
