import ProfileModel

/// The stacks of both sides as one tree, merged by function, with the times of both sides. With
/// several launches, the times are means. Stacks that only one side has are included.
package struct ComparedTree: Sendable {
    package struct Node: Hashable, Sendable {
        /// Of ``ProfileComparison/functions``.
        package var function: FunctionID
        /// The function as the first launch of each side showed it, at the line with the most wall
        /// time there; nil: that side did not show it.
        package var frames: Compared<SeenFrame?>
        /// Of slices that end here.
        package var own: Compared<Cost>
        /// Of slices that go through here.
        package var total: Compared<Cost>
        /// Of `total`; empty in trees of functions by their callers.
        package var walls: LaunchWalls
        /// Its parent's position in the list, before this one's; nil for a root.
        package var parent: Int?
        /// The largest change first.
        package var children: Range<Int>
    }

    package private(set) var nodes: [Node] = []
    /// The largest change first.
    package private(set) var roots: Range<Int> = 0..<0

    /// A node before it has its place.
    struct Draft {
        /// Of the list of drafts; ``PathTable/none`` for a root.
        var parent: Int32
        var function: FunctionID
        var frames: Compared<SeenFrame?>
        var own: Compared<Cost>
        var total: Compared<Cost>
        var walls: LaunchWalls
    }

    /// - Parameter drafts: parents before their children.
    init(_ drafts: [Draft], functions: FrameTable) {
        let layout = BreadthFirst(parents: drafts.lazy.map(\.parent)) {
            Self.precedes(drafts[Int($0)], drafts[Int($1)], functions)
        }
        roots = layout.roots
        nodes = layout.order.indices.map { index in
            let draft = drafts[Int(layout.order[index])]
            return Node(
                function: draft.function, frames: draft.frames, own: draft.own, total: draft.total,
                walls: draft.walls, parent: nil, children: layout.children[index])
        }
        for (parent, children) in layout.children.enumerated() {
            for child in children { nodes[child].parent = parent }
        }
    }

    private static func precedes(
        _ left: Draft, _ right: Draft, _ functions: FrameTable
    ) -> Bool {
        left.total.isLarger(than: right.total)
            ?? functions.precedes(left.function, right.function)
    }
}

extension ComparedTree.Node {
    /// Whether it was seen on one side only.
    package var isOneSided: Bool { (frames.before == nil) != (frames.after == nil) }
}

extension Compared<Cost> {
    /// Whether its wall changed by more, or by as much with a larger wall; nil: both are equal.
    func isLarger(than other: Self) -> Bool? {
        let change = (difference.wall.magnitude, other.difference.wall.magnitude)
        if change.0 != change.1 { return change.0 > change.1 }
        return largest == other.largest ? nil : largest > other.largest
    }
}
