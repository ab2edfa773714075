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
