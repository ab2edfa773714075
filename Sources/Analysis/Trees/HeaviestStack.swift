package import ProfileModel

/// The path of a top-down tree that follows the heaviest child from the heaviest root.
package struct HeaviestStack: Sendable {
    package struct Entry: Hashable, Sendable {
        /// The function, at the line that had the most of the weight.
        package var frame: FrameID
        /// Of all stacks that begin with the path up to here.
        package var total: StateTimes
    }

    /// Outermost first. Empty if no time has a stack.
    package var entries: [Entry]
    package let weight: Weight
    /// Of the whole selection, whatever its stacks.
    package var total: StateTimes
}

extension Profile {
    /// The path at the start of ``topDown(_:weight:)``, without building the tree.
    package func heaviestStack(
        _ selection: Selection = .all, weight: Weight
    ) -> HeaviestStack {
        let totals = PathTotals(of: self, in: selection, weight: weight)
        var result = HeaviestStack(
            entries: [], weight: weight, total: times(in: selection))
        var root = PathTable.none
        var heaviestChild = [Int32](repeating: PathTable.none, count: paths.paths.count)
        for (index, path) in paths.paths.enumerated() {
            guard weight.of(totals.total[index]) > .zero else { continue }
            let candidate = Int32(truncatingIfNeeded: index)
            if path.parent != PathTable.none {
                let parent = Int(path.parent)
                if isHeavier(candidate, than: heaviestChild[parent], totals, weight) {
                    heaviestChild[parent] = candidate
                }
            } else if !frames[path.function].isNoStack,
                isHeavier(candidate, than: root, totals, weight)
            {
                root = candidate
            }
        }
        var current = root
        while current != PathTable.none {
            let path = Int(current)
            result.entries.append(
                HeaviestStack.Entry(frame: totals.hottest[path], total: totals.total[path]))
            current = heaviestChild[path]
        }
        return result
    }

    /// The process with most of a selection, as its position in the list of processes; nil: there
    /// is only one process, or none has any of it.
    package func heaviestProcess(in selection: Selection, weight: Weight) -> Int? {
        guard processes.count > 1 else { return nil }
        var weights = [TimeSpan](repeating: .zero, count: processes.count)
        for (thread, times) in timesByThread(in: selection).enumerated() {
            let process = process(ofThread: thread)
            weights[process] = weights[process] + weight.of(times)
        }
        let heaviest = weights.indices.max { (weights[$0], $1) < (weights[$1], $0) }
        return heaviest.flatMap { weights[$0] > .zero ? $0 : nil }
    }

    /// Ties are decided by name, as in trees.
    private func isHeavier(
        _ path: Int32, than other: Int32, _ totals: PathTotals, _ weight: Weight
    ) -> Bool {
        guard other != PathTable.none else { return true }
        let first = weight.of(totals.total[Int(path)])
        let second = weight.of(totals.total[Int(other)])
        if first != second { return first > second }
        return frames.precedes(paths.paths[Int(path)].function, paths.paths[Int(other)].function)
    }
}
