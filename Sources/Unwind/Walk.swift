import Architecture
import ProfileModel

/// A walk's position: where the next frame is, and how many frames were written so far. It holds
/// plain words, so a trial can work on a copy.
struct Walk {
    static let frameLimit = 4096

    /// Room for `frameLimit` frames, innermost first.
    let frames: UnsafeMutablePointer<WalkFrame>
    var count = 0
    /// Where the thread is, or where it will return to.
    private(set) var programCounter: UInt64
    private var isReturnAddress = false
    var stackPointer: UInt64
    /// The leaf's stack pointer.
    private let firstStackPointer: UInt64
    /// Meaningless if the frame pointer is unknown.
    private(set) var framePointer: UInt64
    private(set) var hasFramePointer: Bool
    /// True if the walk has taken a step that no table confirms.
    var hasGuessed = false
    /// True if the leaf's result register has the value that clone(2) returns to the new thread.
    let isNewThread: Bool

    init(_ registers: Registers, into frames: UnsafeMutablePointer<WalkFrame>) {
        self.frames = frames
        isNewThread = registers[Registers.result] == 0
        programCounter = registers.programCounter
        stackPointer = registers.stackPointer
        firstStackPointer = stackPointer
        framePointer = registers.framePointer ?? 0
        hasFramePointer = registers.framePointer != nil
    }

    /// The address to look up in tables, like `CodeAddress.lookup`. (Calling that in another module
    /// would cost more than the rest of the step.)
    @inline(__always)
    var lookup: UInt64 { isReturnAddress ? programCounter &- 1 : programCounter }

    /// True if the walk is at a caller, not where the thread is or was interrupted.
    var isAtCaller: Bool { isReturnAddress }

    /// The known registers.
    var registers: Registers {
        var registers = Registers(programCounter: programCounter, stackPointer: stackPointer)
        registers[Registers.framePointer] = hasFramePointer ? framePointer : nil
        return registers
    }

    /// Continues at a caller.
    @inline(__always)
    mutating func move(toReturnAddress address: UInt64) {
        programCounter = address
        isReturnAddress = true
    }

    /// Continues at an interrupted instruction.
    mutating func move(toInstruction address: UInt64) {
        programCounter = address
        isReturnAddress = false
    }

    /// The last written frame is at the start of a function, but no call precedes it: signal
    /// handlers return to it, or its address was pushed by hand.
    mutating func lastIsNoCall() { if count > 0 { frames[count - 1].isNoCall() } }

    @inline(__always)
    mutating func setFramePointer(_ value: UInt64?) {
        framePointer = value ?? 0
        hasFramePointer = value != nil
    }

    /// Takes the caller's frame pointer from the place where it was saved.
    ///
    /// - Parameter value: nil if that place was not copied. Below the stack pointer it has been
    ///   popped: the tables of unoptimised code do not say so for the `ret` after `leave`.
    @inline(__always)
    mutating func restoreFramePointer(_ value: UInt64?, from place: UInt64) {
        if value != nil || place >= stackPointer { setFramePointer(value) }
    }

    /// Writes a frame. The caller has checked that `count` is below the limit.
    ///
    /// - Parameter module: the module's index, or -1.
    @inline(__always)
    mutating func append(module: Int32, bias: UInt64) {
        frames[count] = WalkFrame(
            address: programCounter &- bias, module: module, isReturnAddress: isReturnAddress,
            depth: stackPointer &- firstStackPointer)
        count &+= 1
    }
}

/// A frame as a walk writes it.
struct WalkFrame {
    var address: UInt64
    /// The module's index, or -1.
    var module: Int32
    /// How far its part of the stack begins above the leaf's, in words. The lowest bit tells
    /// whether the address is a return address.
    private var place: UInt32

    static let unknownDepth = UInt64(UInt32.max >> 1) << 3

    /// - Parameter depth: in bytes, up to 16 GiB; meaningless beyond that, and on another stack.
    @inline(__always)
    init(address: UInt64, module: Int32, isReturnAddress: Bool, depth: UInt64) {
        self.address = address
        self.module = module
        place = UInt32(truncatingIfNeeded: depth >> 3) << 1 | (isReturnAddress ? 1 : 0)
    }

    var isReturnAddress: Bool { place & 1 != 0 }
    /// The frame is where a signal's handler returns to. Its address is that of an instruction,
    /// because the kernel has put it on the stack, not a call.
    mutating func isNoCall() { place &= ~1 }
    /// The address to look up in tables.
    var lookup: UInt64 { isReturnAddress ? address &- 1 : address }
    var depth: UInt64 { UInt64(place >> 1) << 3 }
}

/// How a walk ended.
enum WalkEnd {
    case complete
    /// The quick walk met a frame that only the full tables explain.
    case needsTables
    case truncated(Truncation)

    /// nil when the stack is complete.
    var truncation: Truncation? {
        switch self {
        case .complete: nil
        case .needsTables: .noRule
        case .truncated(let reason): reason
        }
    }
}
