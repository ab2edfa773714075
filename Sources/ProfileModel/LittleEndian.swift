/// Integers in little-endian bytes, such as a process's memory has. nil: outside the bytes.
extension [UInt8] {
    @inlinable
    package func littleEndianWord(at offset: Int) -> UInt64? { self[...].littleEndian(at: offset) }

    @inlinable
    package func littleEndianInt32(at offset: Int) -> Int32? { self[...].littleEndian(at: offset) }

    @inlinable
    package func littleEndianUInt32(at offset: Int) -> UInt32? {
        self[...].littleEndian(at: offset)
    }

    @inlinable
    package func littleEndianUInt16(at offset: Int) -> UInt16? {
        self[...].littleEndian(at: offset)
    }
}

extension ArraySlice<UInt8> {
    /// - Parameter offset: from the slice's begin.
    @inlinable
    package func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int
    ) -> Value? {
        guard offset >= 0, offset <= count - MemoryLayout<Value>.size else { return nil }
        // Unsafe code: the range was checked.
        return unsafe withUnsafeBytes {
            unsafe Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
    }
}
