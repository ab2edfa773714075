/// Reads little-endian numbers one after another from untrusted bytes.
///
/// Past the end every number is 0, and ``isBroken`` becomes true. So a caller that reads many
/// numbers needs only one check.
///
/// Unsafe code: the bytes outlive this, and every read is checked against their end.
///
/// Public, since only public code is inlined into other modules: tables of unwinding and debug
/// information are read number by number.
public struct ByteCursor {
    @usableFromInline let start: UnsafeRawPointer?
    @usableFromInline var place: Int
    @usableFromInline var hasFailed: Bool
    /// One past the last byte that may be read.
    public let end: Int

    /// - Parameters:
    ///   - position: of the first number.
    ///   - end: at most the number of bytes; nil: all of them.
    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer, at position: Int, end: Int? = nil) {
        start = bytes.baseAddress
        self.end = max(0, min(end ?? bytes.count, bytes.count))
        hasFailed = position < 0 || position > self.end
        place = hasFailed ? self.end : position
    }

    /// The offset in the bytes.
    @inlinable public var position: Int { place }

    /// True if a read went past the end.
    @inlinable public var isBroken: Bool { hasFailed }

    @inlinable public var isAtEnd: Bool { place >= end }

    @inlinable
    @inline(__always)
    public mutating func skip(_ count: Int) {
        guard count >= 0, count <= end &- place else { return fail() }
        place &+= count
    }

    @inlinable
    public mutating func skip(_ count: UInt64) {
        guard let count = Int(exactly: count) else { return fail() }
        skip(count)
    }

    /// Moves to an offset in the bytes; never past their end.
    @inlinable
    public mutating func move(to target: Int) {
        guard target >= 0, target <= end else { return fail() }
        place = target
    }

    @inlinable
    @inline(__always)
    public mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type
    ) -> Number {
        let size = MemoryLayout<Number>.size
        guard let start, size <= end &- place else {
            fail()
            return 0
        }
        defer { place &+= size }
        return Number(littleEndian: start.loadUnaligned(fromByteOffset: place, as: type))
    }

    @inlinable
    @inline(__always)
    public mutating func byte() -> UInt8 { number(UInt8.self) }

    /// A little-endian number of 1 to 8 bytes.
    @inlinable
    public mutating func number(size: Int) -> UInt64 {
        switch size {
        case 1: return UInt64(number(UInt8.self))
        case 2: return UInt64(number(UInt16.self))
        case 4: return UInt64(number(UInt32.self))
        case 8: return number(UInt64.self)
        default:
            guard (0..<8).contains(size) else {
                fail()
                return 0
            }
            return (0..<size).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) }
        }
    }

    /// LEB128; bits past the 64th are lost.
    @inlinable
    @inline(__always)
    public mutating func unsigned() -> UInt64 {
        let first = byte()
        return first < 0x80 ? UInt64(first) : unsignedRest(first)
    }

    @inlinable
    mutating func unsignedRest(_ first: UInt8) -> UInt64 {
        var result = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while !isBroken {
            let next = byte()
            if shift < 64 { result |= UInt64(next & 0x7F) << shift }
            shift &+= 7
            if next < 0x80 { break }
        }
        return result
    }

    /// Signed LEB128; bits past the 64th are lost.
    @inlinable
    @inline(__always)
    public mutating func signed() -> Int64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while !isBroken {
            let next = byte()
            if shift < 64 { result |= UInt64(next & 0x7F) << shift }
            shift &+= 7
            guard next < 0x80 else { continue }
            if next & 0x40 != 0, shift < 64 { result |= ~0 << shift }
            break
        }
        return Int64(bitPattern: result)
    }

    @inlinable
    @inline(__always)
    public mutating func skipLEB() {
        while byte() >= 0x80 {}
    }

    /// The range of the bytes up to the next zero byte. Moves behind that byte.
    @inlinable
    @discardableResult
    public mutating func text() -> Range<Int> {
        let first = place
        while byte() != 0 {}
        return first..<max(first, place &- 1)
    }

    @inlinable
    mutating func fail() {
        hasFailed = true
        place = end
    }
}
