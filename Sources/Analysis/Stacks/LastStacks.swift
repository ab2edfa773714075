package import ProfileModel

/// The last stack of each of a recording's threads.
package struct LastStacks: Sendable {
    package struct Stack: Hashable, Sendable {
        /// Innermost first.
        package var frames: [FrameID]
        /// True if it does not reach the thread's entry function.
        package var isTruncated: Bool
    }

    package let frames: FrameTable
    private let stacks: [ThreadIndex: Stack]

    /// nil: the thread has none.
    package subscript(thread: ThreadIndex) -> Stack? { stacks[thread] }

    package init(_ recording: Recording) {
        var last: [ThreadIndex: Slice] = [:]
        for slice in recording.slices where slice.stack != nil {
            if let known = last[slice.thread], known.end > slice.end { continue }
            last[slice.thread] = slice
        }
        var expander = FrameExpander(modules: recording.modules, symbols: recording.symbols)
        stacks = last.mapValues { slice in
            Stack(
                frames: Self.addresses(of: slice.stack, recording.stacks.nodes).flatMap {
                    expander.frames(of: $0).reversed()
                }, isTruncated: slice.truncation != nil)
        }
        frames = expander.table
    }

    /// Innermost first. Callers precede callees; bad data ends the stack.
    private static func addresses(
        of stack: StackID?, _ nodes: [StackTable.Node]
    ) -> [FrameAddress] {
        var result: [FrameAddress] = []
        var next = stack.map { Int($0.rawValue) }
        while let node = next, nodes.indices.contains(node) {
            result.append(nodes[node].frame)
            next = nodes[node].parent.map { Int($0.rawValue) }.flatMap { $0 < node ? $0 : nil }
        }
        return result
    }
}
