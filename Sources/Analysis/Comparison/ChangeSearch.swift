import ProfileModel

/// A place in the code that a part of a phase's difference comes from.
package struct Change: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// Only the launches after the change show it.
        case new
        /// Only the launches before the change show it.
        case gone
        case changed
    }

    /// A node of the phase's top-down tree.
    package var node: Int
    package var kind: Kind
    /// The node's time without that of the changes below it.
    package var cost: Compared<Cost>
}

/// Divides a phase's difference among the places in the code that it comes from: functions of the
/// developer's own that are new or gone as a whole; otherwise the innermost functions that changed
/// by enough. A smaller change counts for the caller. No time counts twice.
struct ChangeSearch {
    let tree: ComparedTree
    let launches: Compared<[Profile]>
    let functions: FrameTable
    /// False for a phase that only one side has: everything in it is new or gone, which tells
    /// nothing.
    let isCommonPhase: Bool
    let rule: ChangeRule

    /// The largest first.
    func changes() -> [Change] {
        var found: [Int: Compared<Cost>] = [:]
        for (node, cost) in divided() {
            let place = place(of: node)
            found[place] = (found[place] ?? .zero) + cost
        }
        let changes = found.map { Change(node: $0, kind: kind(of: $0), cost: $1) }
        return changes.sorted { left, right in
            left.cost.isLarger(than: right.cost) ?? (left.node < right.node)
        }
    }

    /// The cost charged to each node; nodes without any are left out.
    private func divided() -> [(node: Int, cost: Compared<Cost>)] {
        let isInside = insides()
        var below = [Compared<Cost>](repeating: .zero, count: tree.nodes.count)
        var wallsBelow = [LaunchWalls](repeating: .none, count: tree.nodes.count)
        var result: [(node: Int, cost: Compared<Cost>)] = []
        // Callees come after their callers.
        for node in tree.nodes.indices.reversed() where !isInside[node] {
            let rest = tree.nodes[node].total - below[node]
            let walls = tree.nodes[node].walls - wallsBelow[node]
            if rule.isChange(rest.map(\.wall), walls) {
                result.append((node, rest))
                below[node] = tree.nodes[node].total
                wallsBelow[node] = tree.nodes[node].walls
            }
            if let parent = tree.nodes[node].parent {
                below[parent] = below[parent] + below[node]
                wallsBelow[parent] = wallsBelow[parent] + wallsBelow[node]
            }
        }
        return result
    }

    /// Whether a caller of each node is new or gone as a whole.
    private func insides() -> [Bool] {
        var result = [Bool](repeating: false, count: tree.nodes.count)
        for (index, node) in tree.nodes.enumerated() {
            guard let parent = node.parent else { continue }
            result[index] = result[parent] || isWhole(parent)
        }
        return result
    }

    private func isWhole(_ node: Int) -> Bool {
        isCommonPhase && tree.nodes[node].isOneSided && isOwn(node)
    }

    private func isOwn(_ node: Int) -> Bool { functions[tree.nodes[node].function].isOwn }

    private func kind(of node: Int) -> Change.Kind {
        let frames = tree.nodes[node].frames
        guard tree.nodes[node].isOneSided else { return .changed }
        return frames.before == nil ? .new : .gone
    }

    /// The place to show: the innermost function of the developer's own that is not inlined.
    private func place(of node: Int) -> Int {
        guard !isWhole(node) else { return node }
        var innermost: Int?
        var current: Int? = node
        while let next = current {
            if isOwn(next) {
                guard isInlined(next) else { return next }
                innermost = innermost ?? next
            }
            current = tree.nodes[next].parent
        }
        return innermost ?? node
    }

    private func isInlined(_ node: Int) -> Bool {
        let ids = tree.nodes[node].frames
        return Side.allCases.contains { side in
            ids[side].map { launches.frame($0, side).isInlined } ?? false
        }
    }
}
