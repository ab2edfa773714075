import ProfileModel

/// The bytes that a snapshot holds, by address. Nothing else can be read.
struct StackMemory {
    private let stack: StackCopy
    private let interrupted: StackCopy?

    init(_ snapshot: Snapshot) {
        stack = snapshot.stack
        interrupted = snapshot.interrupted
    }

    /// Behind the last byte of the stack that the stack pointer points into.
    var end: UInt64 { stack.end }

    /// The word at an address; nil where the stack was not copied.
    @inline(__always)
    func word(at address: UInt64) -> UInt64? {
        stack.word(at: address) ?? interrupted?.word(at: address)
    }

    /// As ``word(at:)`` for 1 … 8 bytes, as DWARF's `deref_size` asks.
    func value(at address: UInt64, size: Int) -> UInt64? {
        stack.value(at: address, size: size) ?? interrupted?.value(at: address, size: size)
    }
}

extension StackCopy {
    fileprivate var end: UInt64 { start &+ UInt64(bytes.count) }

    @inline(__always)
    fileprivate func word(at address: UInt64) -> UInt64? {
        let offset = address &- start
        guard bytes.count >= 8, offset <= UInt64(bytes.count - 8) else { return nil }
        return bytes.withUnsafeBytes { raw in
            raw.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self)
        }
    }

    fileprivate func value(at address: UInt64, size: Int) -> UInt64? {
        let offset = address &- start
        guard size >= 1, size <= 8, bytes.count >= size, offset <= UInt64(bytes.count - size)
        else { return nil }
        var value: UInt64 = 0
        for index in 0..<size { value |= UInt64(bytes[Int(offset) + index]) << UInt64(8 * index) }
        return value
    }
}
