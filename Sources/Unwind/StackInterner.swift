package import ProfileModel

/// Turns snapshots into stacks of a table. Memory is allocated only for new frames.
package struct StackInterner: ~Copyable {
    package let unwinder: Unwinder
    private let shared: SharedStacks
    /// The frames of the snapshot that was unwound last.
    package private(set) var frames = FrameBuffer()

    /// - Parameter stacks: shared by several processes, one of which this serves.
    package init(unwinder: Unwinder, stacks: SharedStacks = SharedStacks()) {
        self.unwinder = unwinder
        shared = stacks
    }

    package var stacks: StackTable { shared.table }

    /// The number of frames of the snapshot that was unwound last.
    package var frameCount: Int { frames.count }

    /// Unwinds a snapshot.
    ///
    /// - Returns: no stack if there are no frames; no truncation if the stack is complete.
    package mutating func intern(
        _ snapshot: Snapshot
    ) -> (stack: StackID?, truncation: Truncation?) {
        internUnwound(snapshot, unwind(snapshot))
    }

    /// As ``intern(_:)``, for the snapshot that was unwound last.
    package mutating func internUnwound(
        _ snapshot: Snapshot, _ truncation: Truncation?
    ) -> (stack: StackID?, truncation: Truncation?) {
        let stack = Self.intern(frames, into: &shared.table)
        return (intern(kernelChain: snapshot.kernelChain, calledFrom: stack), truncation)
    }

    /// Only unwinds; the result is in ``frames``.
    package mutating func unwind(_ snapshot: Snapshot) -> Truncation? {
        unwinder.unwind(snapshot, into: &frames)
    }

    /// Adds the kernel's part to a stack.
    ///
    /// - Parameters:
    ///   - chain: as in ``Snapshot/kernelChain``.
    ///   - caller: the program's stack; nil: there is none.
    /// - Returns: nil if both are empty.
    package mutating func intern(
        kernelChain chain: [UInt64], calledFrom caller: StackID?
    ) -> StackID? {
        var stack = caller
        for address in chain.reversed() {
            // Below an interrupt, the chain has the interrupted instruction. It may be the first of
            // its function; then the byte before belongs to another function. The chain does not
            // tell which frames these are, so none is looked up one byte before (perf does the
            // same).
            let frame = unwinder.space.kernelFrame(CodeAddress(address, .instruction))
            stack = intern(frame, calledFrom: stack)
        }
        return stack
    }

    /// A function of its own, so that the table is accessed only once per stack.
    private static func intern(
        _ frames: borrowing FrameBuffer, into table: inout StackTable
    ) -> StackID? {
        var stack: StackID?
        var index = frames.count
        while index > 0 {
            index &-= 1
            stack = table.intern(parent: stack, frame: frames[index])
        }
        return stack
    }

    /// - Parameter caller: nil: the frame is the outermost of a stack.
    package mutating func intern(
        _ frame: FrameAddress, calledFrom caller: StackID? = nil
    ) -> StackID {
        shared.table.intern(parent: caller, frame: frame)
    }
}

/// The stacks of several processes that share their modules, in one table. For one thread only.
package final class SharedStacks {
    package fileprivate(set) var table = StackTable()

    package init() {}
}
