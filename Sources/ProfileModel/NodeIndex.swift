/// Finds a ``StackTable``'s nodes by their content.
///
/// A hash table with open addressing that holds only positions. Every frame of every sample asks
/// it. A `Dictionary` would hash a node field by field, which took longer than unwinding the frame.
struct NodeIndex: Sendable {
    /// Positions of nodes, or ``free``. A power of two, at most half of it used.
    private var slots: [Int32] = []
    /// Addresses come from the profiled program. Without a secret, the program could choose them so
    /// that all of them fall into one slot.
    private let seed = UInt64.random(in: .min ... .max)

    private static let free: Int32 = -1
    private static let fewest = 256

    /// The position of a node, or the position at which it would be appended.
    func position(of node: StackTable.Node, in nodes: [StackTable.Node]) -> (Int, isKnown: Bool) {
        guard !slots.isEmpty else { return (nodes.count, false) }
        var slot = firstSlot(of: node)
        while slots[slot] != Self.free {
            let position = Int(slots[slot])
            if nodes[position] == node { return (position, true) }
            slot = (slot &+ 1) & (slots.count &- 1)
        }
        return (nodes.count, false)
    }

    /// Adds the last of the nodes, which must be new.
    mutating func add(_ position: Int, to nodes: [StackTable.Node]) {
        if nodes.count * 2 > slots.count {
            grow(nodes)
        } else {
            insert(position, nodes[position])
        }
    }

    private mutating func grow(_ nodes: [StackTable.Node]) {
        slots = [Int32](repeating: Self.free, count: max(slots.count * 2, Self.fewest))
        for (position, node) in nodes.enumerated() { insert(position, node) }
    }

    private mutating func insert(_ position: Int, _ node: StackTable.Node) {
        var slot = firstSlot(of: node)
        while slots[slot] != Self.free { slot = (slot &+ 1) & (slots.count &- 1) }
        slots[slot] = Int32(position)
    }

    /// Two words, both mixed with the secret, are multiplied, so each bit of either counts.
    private func firstSlot(of node: StackTable.Node) -> Int {
        let place = UInt64(truncatingIfNeeded: node.frame.module?.rawValue ?? -1) &<< 1
        let parent = UInt64(truncatingIfNeeded: node.parent?.rawValue ?? -1) &<< 32
        let rest = (place | UInt64(node.frame.address.kind.rawValue)) ^ parent
        let (high, low) = (node.frame.address.value ^ seed)
            .multipliedFullWidth(by: rest ^ seed &* 0x9E37_79B9_7F4A_7C15)
        return Int(truncatingIfNeeded: high ^ low) & (slots.count &- 1)
    }
}
