package import ProfileModel

/// Snapshots to stacks in a table, one after the other: memory is allocated only for frames that were
/// not seen before.
package struct StackInterner: ~Copyable {
    package let unwinder: Unwinder
    private let shared: SharedStacks
    /// Of the snapshot that was unwound last.
    package private(set) var frames = FrameBuffer()

    /// - Parameter stacks: those of several processes, of which this is one.
    package init(unwinder: Unwinder, stacks: SharedStacks = SharedStacks()) {
        self.unwinder = unwinder
        shared = stacks
    }

    package var stacks: StackTable { shared.table }

    /// The number of frames of the snapshot that was unwound last.
    package var frameCount: Int { frames.count }

    /// Unwinds a snapshot.
    ///
    /// - Returns: no stack where it has no frames, no truncation where it is complete.
    package mutating func intern(
        _ snapshot: Snapshot
    ) -> (stack: StackID?, truncation: Truncation?) {
        internUnwound(snapshot, unwind(snapshot))
    }

    /// The same of the one that was unwound last.
    package mutating func internUnwound(
        _ snapshot: Snapshot, _ truncation: Truncation?
    ) -> (stack: StackID?, truncation: Truncation?) {
        let stack = Self.intern(frames, into: &shared.table)
        return (intern(kernelChain: snapshot.kernelChain, calledFrom: stack), truncation)
    }

    /// Only unwinds it: ``frames`` has what was found.
    package mutating func unwind(_ snapshot: Snapshot) -> Truncation? {
        unwinder.unwind(snapshot, into: &frames)
    }

    /// Adds what the kernel did for a stack to it.
    ///
    /// - Parameters:
    ///   - chain: as in ``Snapshot/kernelChain``.
    ///   - caller: the program's stack; nil: there is none.
    /// - Returns: nil where both are empty.
    package mutating func intern(
        kernelChain chain: [UInt64], calledFrom caller: StackID?
    ) -> StackID? {
        var stack = caller
        for address in chain.reversed() {
            // Below an interrupt is the instruction it came at, which may be its function's first: the
            // byte before belongs to another function. The chain does not say which frames those
            // are, so none is looked up one byte before (perf does the same).
            let frame = unwinder.space.kernelFrame(CodeAddress(address, .instruction))
            stack = intern(frame, calledFrom: stack)
        }
        return stack
    }

    /// On its own, so that the table is reached for once a stack.
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

    /// - Parameter caller: nil: the frame is a stack's outermost.
    package mutating func intern(
        _ frame: FrameAddress, calledFrom caller: StackID? = nil
    ) -> StackID {
        shared.table.intern(parent: caller, frame: frame)
    }
}

/// The stacks of several processes that have their modules in common, in one table. For one thread
/// only.
package final class SharedStacks {
    package fileprivate(set) var table = StackTable()

    package init() {}
}
