import ProfileModel

/// The times of every path of ``MergedStacks`` in a part of the launches; with several launches,
/// the means. Time without a core has a path of its own, so that functions differ by their own
/// work, not by the rest of the machine's.
struct ComparedTotals {
    /// Of slices whose stack ends in the path.
    private(set) var own: [Compared<Cost>]
    /// Of slices whose stack goes through the path.
    private(set) var total: [Compared<Cost>]
    /// For each path, the line at which its function had the most wall time, in the first launch
    /// that showed it.
    private(set) var frames: [Compared<SeenFrame?>]
    /// The walls of `own` and `total` in each launch; empty where a side has only one launch.
    private var ownWalls = Compared<[[TimeSpan]]>(before: [], after: [])
    private var totalWalls = Compared<[[TimeSpan]]>(before: [], after: [])

    /// - Parameters:
    ///   - selection: of each launch; nil: the launch has no such phase.
    ///   - walls: the sums that the times of each launch must have. Time missing from the slices is
    ///     charged to a path of its own.
    ///   - means: divide the sums; the same dividers serve all phases in turn.
    init(
        of launches: Compared<[Profile]>, in selection: Compared<[Selection?]>,
        walls: LaunchWalls, means: inout Compared<CostDivider>, _ stacks: MergedStacks
    ) {
        let count = stacks.paths.paths.count
        own = [Compared<Cost>](repeating: .zero, count: count)
        total = own
        frames = [Compared<SeenFrame?>](repeating: Compared(before: nil, after: nil), count: count)
        for side in Side.allCases {
            for (launch, profile) in launches[side].enumerated() {
                let part = LaunchPart(
                    of: profile, in: selection[side][launch], wall: walls[side][launch],
                    stacks.places[side][launch], stacks)
                add(part, launch, side)
                if launches.areSeveral { keep(part, side, stacks.paths) }
            }
            for path in own.indices { own[path][side] = means[side].mean(of: own[path][side]) }
        }
        addUp(stacks.paths)
    }

    private mutating func add(_ part: LaunchPart, _ launch: Int, _ side: Side) {
        for (place, cost) in part.own { own[place][side] = own[place][side] + cost }
        for (place, frame) in part.frames where frames[place][side] == nil {
            frames[place][side] = SeenFrame(launch: launch, frame: frame)
        }
    }

    private mutating func keep(_ part: LaunchPart, _ side: Side, _ table: PathTable) {
        var walls = [TimeSpan](repeating: .zero, count: own.count)
        for (place, cost) in part.own { walls[place] = walls[place] + cost.wall }
        ownWalls[side].append(walls)
        // Callees come after their callers.
        for path in walls.indices.reversed() where table.paths[path].parent != PathTable.none {
            let parent = Int(table.paths[path].parent)
            walls[parent] = walls[parent] + walls[path]
        }
        totalWalls[side].append(walls)
    }

    private mutating func addUp(_ table: PathTable) {
        total = own
        for path in total.indices.reversed() where table.paths[path].parent != PathTable.none {
            let parent = Int(table.paths[path].parent)
            total[parent] = total[parent] + total[path]
        }
    }

    private func walls(_ walls: Compared<[[TimeSpan]]>, at path: Int) -> LaunchWalls {
        walls.map { $0.map { $0[path] } }
    }
}

/// One launch's share of a phase.
private struct LaunchPart {
    /// By places of ``MergedStacks``; a place may occur several times.
    private(set) var own: [(place: Int, cost: Cost)] = []
    private(set) var frames: [(place: Int, frame: FrameID)] = []

    /// - Parameter places: of the launch's paths.
    init(
        of profile: Profile, in selection: Selection?, wall: TimeSpan, _ places: [Int32],
        _ stacks: MergedStacks
    ) {
        var (rest, lacked) = (wall, TimeSpan.zero)
        if let selection {
            let totals = PathTotals(of: profile, in: selection, weight: .wall)
            for (path, place) in places.enumerated() where totals.total[path] != .zero {
                frames.append((Int(place), totals.hottest[path]))
                guard totals.own[path] != .zero else { continue }
                let times = totals.own[path]
                let cost = Cost(
                    wall: times.running + times.blocked, cpu: times.running, blocked: times.blocked)
                if cost != .zero { own.append((Int(place), cost)) }
                lacked = lacked + times.runnable + times.preempted
                rest = rest - times.wall
            }
        }
        if lacked != .zero { own.append((Int(stacks.withoutCore), Cost(wall: lacked))) }
        // Negative where a damaged recording contains more time than the phase had.
        if rest != .zero { own.append((Int(stacks.unrecorded), Cost(wall: rest))) }
    }
}

extension ComparedTotals {
    /// The tree with callers above callees.
    func topDown(_ stacks: MergedStacks) -> ComparedTree {
        var drafts: [ComparedTree.Draft] = []
        var positions = [Int32](repeating: PathTable.none, count: total.count)
        for (index, path) in stacks.paths.paths.enumerated() where isSeen(index, stacks) {
            positions[index] = Int32(truncatingIfNeeded: drafts.count)
            drafts.append(
                ComparedTree.Draft(
                    parent: path.parent == PathTable.none
                        ? PathTable.none : positions[Int(path.parent)],
                    function: path.function, frames: frames[index], own: own[index],
                    total: total[index], walls: walls(totalWalls, at: index)))
        }
        return ComparedTree(drafts, functions: stacks.table)
    }

    /// A mean may be rounded to nothing.
    private func isSeen(_ path: Int, _ stacks: MergedStacks) -> Bool {
        total[path] != .zero || frames[path] != Compared(before: nil, after: nil)
    }

    /// Every function with its own time, and its time including all its callees. The largest change
    /// of own time comes first.
    func functions(_ stacks: MergedStacks) -> [ComparedFunction] {
        var figures = stacks.table.functions.indices.map {
            ComparedFunction(
                function: FunctionID(Int32(truncatingIfNeeded: $0)), own: .zero, total: .zero,
                walls: .none)
        }
        for (index, path) in stacks.paths.paths.enumerated() {
            let function = Int(path.function.rawValue)
            figures[function].own = figures[function].own + own[index]
            if own[index] != .zero {
                figures[function].walls = figures[function].walls + walls(ownWalls, at: index)
            }
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

/// What a function cost on both sides, over all the stacks that it occurs in.
package struct ComparedFunction: Hashable, Sendable {
    /// Of ``ProfileComparison/functions``.
    package var function: FunctionID
    /// While it was the innermost frame. A wait is a frame of its own.
    package var own: Compared<Cost>
    /// While it was anywhere in the stack; recursion is counted once.
    package var total: Compared<Cost>
    /// Of `own`.
    package var walls: LaunchWalls
}
