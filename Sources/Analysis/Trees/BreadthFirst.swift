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
