import Architecture
import CPrefetch
import ProfileModel

/// The bytes in a snapshot, by address. Nothing else can be read.
///
/// Unsafe code: the pointers are those of the snapshot's own bytes, which ``with(_:_:)`` keeps
/// alive while its body runs. Every read is checked against their count.
struct StackMemory {
    private let stack: Part
    private let interrupted: Part?

    struct Part {
        let start: UInt64
        /// nil only where there are no bytes.
        let bytes: UnsafeRawPointer?
        let count: Int
        /// The number of addresses at which a whole word can be read.
        let words: UInt64

        init(_ start: UInt64, _ raw: UnsafeRawBufferPointer) {
            self.start = start
            bytes = raw.baseAddress
            count = raw.count
            words = UInt64(max(0, count - 7))
        }

        @inline(__always)
        func word(at address: UInt64) -> UInt64? {
            let offset = address &- start
            guard offset < words else { return nil }
            return bytes.unsafelyUnwrapped.loadUnaligned(
                fromByteOffset: Int(truncatingIfNeeded: offset), as: UInt64.self)
        }

        func value(at address: UInt64, size: Int) -> UInt64? {
            let offset = address &- start
            guard size >= 1, size <= 8, count >= size, offset <= UInt64(count - size),
                let first = Int(exactly: offset), let bytes
            else { return nil }
            var value: UInt64 = 0
            for index in 0..<size {
                let byte = bytes.load(fromByteOffset: first &+ index, as: UInt8.self)
                value |= UInt64(byte) << UInt64(8 * index)
            }
            return value
        }
    }

    /// Calls `body` with the content of a snapshot.
    @inline(__always)
    static func with<Value>(_ snapshot: Snapshot, _ body: (StackMemory) -> Value) -> Value {
        snapshot.stack.bytes.withUnsafeBytes { raw in
            guard let other = snapshot.interrupted else {
                return body(StackMemory(Part(snapshot.stack.start, raw), nil))
            }
            return other.bytes.withUnsafeBytes { otherRaw in
                body(StackMemory(Part(snapshot.stack.start, raw), Part(other.start, otherRaw)))
            }
        }
    }

    /// How much of a snapshot is prefetched before its walk, in bytes.
    private static let firstPart: UInt64 = 1024

    /// Prefetches the beginning of a snapshot's stack into the processor's cache.
    static func prefetch(_ snapshot: Snapshot) {
        let first = snapshot.registers.stackPointer
        with(snapshot) { memory in _ = memory.prefetch(from: first, to: first &+ firstPart) }
    }

    @inline(__always)
    init(_ stack: Part, _ interrupted: Part?) {
        self.stack = stack
        self.interrupted = interrupted
    }

    /// The end of the stack that the stack pointer points into.
    var end: UInt64 { stack.start &+ UInt64(stack.count) }

    private static let lineSize: UInt64 = 64

    /// Prefetches the bytes between two addresses into the processor's cache: otherwise a walk
    /// waits for memory at nearly every frame. Bytes outside the stack are left out.
    ///
    /// - Returns: the address up to which bytes were prefetched.
    @inline(__always)
    func prefetch(from first: UInt64, to last: UInt64) -> UInt64 {
        var offset = first &- stack.start
        // However far apart the ends are: never more than the stack's own lines.
        let end = min(last &- stack.start, stack.words)
        while offset < end {
            fl_prefetch(stack.bytes.unsafelyUnwrapped + Int(truncatingIfNeeded: offset))
            offset &+= Self.lineSize
        }
        return stack.start &+ offset
    }

    /// The word at an address; nil if the stack was not copied there.
    @inline(__always)
    func word(at address: UInt64) -> UInt64? {
        if let word = stack.word(at: address) { return word }
        return interrupted == nil ? nil : interruptedWord(at: address)
    }

    @inline(never)
    private func interruptedWord(at address: UInt64) -> UInt64? { interrupted?.word(at: address) }

    /// Like ``word(at:)`` for 1 … 8 bytes, for DWARF's `deref_size`.
    func value(at address: UInt64, size: Int) -> UInt64? {
        stack.value(at: address, size: size) ?? interrupted?.value(at: address, size: size)
    }
}
