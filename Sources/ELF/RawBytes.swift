internal import Glibc

extension UnsafeRawBufferPointer {
    /// A number of any alignment at `offset`; nil past the end. Public, so that it is inlined.
    @inlinable
    public func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, at offset: Int
    ) -> Number? {
        guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
        return Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The NUL-terminated text at `offset`, without the NUL; nil if it does not end within these
    /// bytes.
    package func text(at offset: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, offset < count, let start = baseAddress?.advanced(by: offset),
            let end = memchr(start, 0, count - offset)
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: UnsafeRawPointer(end) - start)
    }

    /// True if these bytes are exactly this text, without a NUL.
    package func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, text.utf8Start, count) == 0
    }

    /// True if this text with a NUL after it is at `offset`.
    package func hasText(_ text: StaticString, at offset: Int) -> Bool {
        let size = text.utf8CodeUnitCount
        guard offset >= 0, offset < count - size, self[offset + size] == 0,
            let start = baseAddress?.advanced(by: offset)
        else { return false }
        return memcmp(start, text.utf8Start, size) == 0
    }
}
