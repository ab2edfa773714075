/// The memory of a process. What it holds is hostile: lengths and addresses in it may be anything.
package protocol RuntimeMemory {
    /// `count` bytes from `address`; nil: not all of them can be read.
    func bytes(at address: UInt64, count: Int) -> [UInt8]?
}

extension RuntimeMemory {
    package func word(at address: UInt64) -> UInt64? {
        bytes(at: address, count: 8)?.word(at: 0)
    }

    func int32(at address: UInt64) -> Int32? {
        bytes(at: address, count: 4)?.int32(at: 0)
    }
}

/// Values of little-endian memory; nil: they do not lie within the bytes.
extension [UInt8] {
    func word(at offset: Int) -> UInt64? { integer(at: offset) }

    func int32(at offset: Int) -> Int32? { integer(at: offset) }

    func uint32(at offset: Int) -> UInt32? { integer(at: offset) }

    func byte(at offset: Int) -> UInt8? { indices.contains(offset) ? self[offset] : nil }

    private func integer<Value: FixedWidthInteger>(at offset: Int) -> Value? {
        let size = MemoryLayout<Value>.size
        guard offset >= 0, offset <= count - size else { return nil }
        var value: Value = 0
        for index in 0..<size {
            value |= Value(truncatingIfNeeded: self[offset + index]) << (8 * index)
        }
        return value
    }
}

extension UInt64 {
    /// This address and a distance that may be negative. Addresses wrap around: the kernel refuses them.
    func advanced(by offset: Int) -> UInt64 { self &+ UInt64(bitPattern: Int64(offset)) }

    /// Whether something with pointers in it may lie here.
    var mayBeObject: Bool { self != 0 && self & 7 == 0 }
}
