package import ProfileModel

/// Stacks merged by function, measured by one weight. Nodes without any of it are left out.
///
/// Top-down, the roots are the threads' outermost functions and children are callees; bottom-up,
/// the roots are the functions in which time was spent and children are their callers.
package struct CallTree: Sendable {
    package struct Node: Hashable, Sendable {
        /// The function, at the line that had the most of the weight.
        package var frame: FrameID
        /// Of slices that end here.
        package var own: StateTimes
        /// Of slices that go through here.
        package var total: StateTimes
        /// Heaviest first; equals by name.
        package var children: Range<Int>
    }

    package private(set) var nodes: [Node] = []
    /// Heaviest first; equals by name.
    package private(set) var roots: Range<Int> = 0..<0
    package let weight: Weight
    /// The times of the whole selection.
    package let total: StateTimes
    package let frames: FrameTable

    /// A node without a place yet.
    struct Draft {
        /// The position in the list of drafts; ``PathTable/none`` for a root.
        var parent: Int32
        var frame: FrameID
        var own: StateTimes
        var total: StateTimes
    }

    /// - Parameter drafts: parents before their children; each has some of the weight.
    init(_ drafts: [Draft], weight: Weight, total: StateTimes, frames: FrameTable) {
        self.weight = weight
        self.total = total
        self.frames = frames
        let layout = BreadthFirst(parents: drafts.lazy.map(\.parent)) {
            Self.isHeavier(drafts[Int($0)], drafts[Int($1)], weight, frames)
        }
        roots = layout.roots
        nodes = zip(layout.order, layout.children).map { position, children in
            let draft = drafts[Int(position)]
            return Node(frame: draft.frame, own: draft.own, total: draft.total, children: children)
        }
    }

    private static func isHeavier(
        _ left: Draft, _ right: Draft, _ weight: Weight, _ frames: FrameTable
    ) -> Bool {
        let (first, second) = (weight.of(left.total), weight.of(right.total))
        if first != second { return first > second }
        return frames.precedes(frames[left.frame].function, frames[right.frame].function)
    }

    package func frame(of node: Node) -> Frame { frames[node.frame] }
    package func function(of node: Node) -> Function { frames.function(of: node.frame) }
}

extension Profile {
    /// The tree with callers above callees, from the threads' outermost functions.
    package func topDown(_ selection: Selection = .all, weight: Weight) -> CallTree {
        let totals = PathTotals(of: self, in: selection, weight: weight)
        // Only paths with some of the weight get a place in the tree: selections are mostly small
        // parts.
        var drafts: [CallTree.Draft] = []
        var places = [Int32](repeating: PathTable.none, count: paths.paths.count)
        for (index, path) in paths.paths.enumerated()
        where weight.of(totals.total[index]) > .zero {
            places[index] = Int32(truncatingIfNeeded: drafts.count)
            drafts.append(
                CallTree.Draft(
                    parent: path.parent == PathTable.none
                        ? PathTable.none : places[Int(path.parent)],
                    frame: totals.hottest[index], own: totals.own[index],
                    total: totals.total[index]))
        }
        return CallTree(
            drafts, weight: weight, total: times(in: selection), frames: frames)
    }
}

/// The nodes of a forest in breadth-first order, so that siblings lie side by side.
struct BreadthFirst {
    /// The node at each place.
    let order: [Int32]
    /// For each place, the places of its children.
    let children: [Range<Int>]
    let roots: Range<Int>

    /// - Parameters:
    ///   - parents: of each node; ``PathTable/none`` for a root.
    ///   - precedes: whether one sibling comes before another.
    init(parents: some Collection<Int32>, precedes: (Int32, Int32) -> Bool) {
        let lists = ChildLists(parents: parents)
        func sorted(_ list: ArraySlice<Int32>) -> [Int32] {
            // Most lists have one node.
            list.count > 1 ? list.sorted(by: precedes) : Array(list)
        }
        var queue = sorted(lists.roots)
        var children: [Range<Int>] = []
        children.reserveCapacity(parents.count)
        roots = 0..<queue.count
        while children.count < queue.count {
            let list = sorted(lists[queue[children.count]])
            children.append(queue.count..<queue.count + list.count)
            queue.append(contentsOf: list)
        }
        order = queue
        self.children = children
    }
}
