import ProfileModel

/// The memory of a process. Its content is hostile: lengths and addresses in it may be anything.
package protocol RuntimeMemory {
    /// `count` bytes from `address`; nil: not all of them can be read.
    func bytes(at address: UInt64, count: Int) -> [UInt8]?

    /// `count` bytes from each address, one after another. Unreadable bytes are zero.
    func bytes(at addresses: [UInt64], count: Int) -> [UInt8]
}

extension RuntimeMemory {
    package func bytes(at addresses: [UInt64], count: Int) -> [UInt8] {
        addresses.flatMap { bytes(at: $0, count: count) ?? [UInt8](repeating: 0, count: count) }
    }

    package func word(at address: UInt64) -> UInt64? {
        bytes(at: address, count: 8)?.word(at: 0)
    }

    func int32(at address: UInt64) -> Int32? {
        bytes(at: address, count: 4)?.int32(at: 0)
    }
}

/// Values in little-endian memory; nil: they are outside the bytes.
extension [UInt8] {
    func word(at offset: Int) -> UInt64? { littleEndianWord(at: offset) }

    func int32(at offset: Int) -> Int32? { littleEndianInt32(at: offset) }

    func uint32(at offset: Int) -> UInt32? { littleEndianUInt32(at: offset) }

    func byte(at offset: Int) -> UInt8? { indices.contains(offset) ? self[offset] : nil }
}

extension UInt64 {
    /// This address plus a distance that may be negative. Addresses wrap around; the kernel refuses
    /// such ones.
    func advanced(by offset: Int) -> UInt64 { self &+ UInt64(bitPattern: Int64(offset)) }

    /// True if an object with pointers may be here.
    var mayBeObject: Bool { self != 0 && self & 7 == 0 }
}
