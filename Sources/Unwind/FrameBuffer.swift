package import ProfileModel

/// Room for the frames of one stack after another: allocated once for many stacks.
///
/// Unsafe code: the memory is allocated and freed here. Walks write at most `Walk.frameLimit`
/// frames, the first `count` of them are initialised, and frames need no deinitialisation.
package struct FrameBuffer: ~Copyable {
    let memory: UnsafeMutablePointer<WalkFrame>
    /// The number of frames of the stack that was unwound last.
    package internal(set) var count = 0
    /// Where the leaf's part of the stack begins.
    var firstStackPointer: UInt64 = 0

    package init() { memory = .allocate(capacity: Walk.frameLimit) }

    deinit { memory.deallocate() }

    /// The frame at a position; the innermost one is at 0.
    package subscript(index: Int) -> FrameAddress {
        precondition(index >= 0 && index < count)
        let frame = memory[index]
        return FrameAddress(
            module: frame.module < 0 ? nil : ModuleIndex(Int(frame.module)),
            address: CodeAddress(
                frame.address, frame.isReturnAddress ? .returnAddress : .instruction))
    }

    /// Where a frame's part of the stack begins; it ends where its caller's begins. 0: unknown.
    /// Meaningless if the stack continues on another one.
    package func stackPointer(of index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        let depth = memory[index].depth
        return depth == WalkFrame.unknownDepth ? 0 : firstStackPointer &+ depth
    }

    /// The frames, innermost first.
    package var frames: [FrameAddress] {
        var result: [FrameAddress] = []
        result.reserveCapacity(count)
        for index in 0..<count { result.append(self[index]) }
        return result
    }

    mutating func removeAll(where isUnwanted: (WalkFrame) -> Bool) {
        var kept = 0
        for index in 0..<count where !isUnwanted(memory[index]) {
            memory[kept] = memory[index]
            kept &+= 1
        }
        count = kept
    }
}
