package import ProfileModel

/// Snapshots to stacks in a table, one after the other: memory is allocated only for frames that were
/// not seen before.
package struct StackInterner: ~Copyable {
    package let unwinder: Unwinder
    package private(set) var stacks = StackTable()
    private var frames = FrameBuffer()

    package init(unwinder: Unwinder) { self.unwinder = unwinder }

    /// The number of frames of the snapshot that was unwound last.
    package var frameCount: Int { frames.count }

    /// Unwinds a snapshot.
    ///
    /// - Returns: no stack where it has no frames, no truncation where it is complete.
    package mutating func intern(
        _ snapshot: Snapshot
    ) -> (stack: StackID?, truncation: Truncation?) {
        let truncation = unwinder.unwind(snapshot, into: &frames)
        var stack: StackID?
        var index = frames.count
        while index > 0 {
            index &-= 1
            stack = stacks.intern(parent: stack, frame: frames[index])
        }
        return (stack, truncation)
    }

    /// - Parameter caller: nil: the frame is a stack's outermost.
    package mutating func intern(
        _ frame: FrameAddress, calledFrom caller: StackID? = nil
    ) -> StackID {
        stacks.intern(parent: caller, frame: frame)
    }
}
