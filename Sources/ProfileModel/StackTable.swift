/// The place of one frame of a stack: an address in a module's own (ELF) address space, or an
/// address in the process if no module is known for it (JIT code, unmapped memory).
package struct FrameAddress: Hashable, Sendable {
    package var module: ModuleIndex?
    package var address: CodeAddress

    package init(module: ModuleIndex?, address: CodeAddress) {
        self.module = module
        self.address = address
    }
}

/// A whole stack as one integer: the position of its innermost frame in a ``StackTable``.
package struct StackID: Hashable, Sendable {
    package var rawValue: Int32
    package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// Stacks interned as (caller's stack, frame) pairs: equal stacks share one handle, common callers
/// are stored once, and call trees follow from the table directly.
package struct StackTable: Sendable {
    package struct Node: Hashable, Sendable {
        /// The caller's stack; nil for an outermost frame.
        package var parent: StackID?
        package var frame: FrameAddress

        package init(parent: StackID?, frame: FrameAddress) {
            self.parent = parent
            self.frame = frame
        }
    }

    /// In the order of their ids. A parent always precedes its children.
    package private(set) var nodes: [Node] = []
    private var index = NodeIndex()

    package init() {}

    package subscript(id: StackID) -> Node { nodes[Int(id.rawValue)] }

    /// The handle of `frame` called from `parent`. A new pair gets a new handle.
    package mutating func intern(parent: StackID?, frame: FrameAddress) -> StackID {
        let node = Node(parent: parent, frame: frame)
        let (position, isKnown) = index.position(of: node, in: nodes)
        if !isKnown {
            nodes.append(node)
            index.add(position, to: nodes)
        }
        return StackID(Int32(position))
    }

    /// Interns a whole stack, outermost frame first. nil for an empty one.
    package mutating func intern(outermostFirst frames: some Sequence<FrameAddress>) -> StackID? {
        var id: StackID?
        for frame in frames { id = intern(parent: id, frame: frame) }
        return id
    }

    /// The frames of a stack, outermost first.
    package func frames(of id: StackID) -> [FrameAddress] {
        var result: [FrameAddress] = []
        var current: StackID? = id
        while let stack = current {
            let node = self[stack]
            result.append(node.frame)
            current = node.parent
        }
        result.reverse()
        return result
    }
}

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
