// Raw memory: the bytes are a section of a mapped file, which lives as long as the `DwarfImage`
// that it belongs to. Every read is checked against its size.

/// Reads numbers one after another from bytes that nobody vouches for.
///
/// Past the end everything is 0, and ``isBroken`` says so: whoever reads many numbers asks once.
struct ByteCursor {
    private let start: UnsafePointer<UInt8>?
    /// One past the last byte that may be read.
    let end: Int
    private(set) var position: Int
    private(set) var isBroken = false

    init(_ bytes: UnsafeRawBufferPointer, at position: Int, end: Int? = nil) {
        start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        self.end = max(0, min(end ?? bytes.count, bytes.count))
        self.position = max(0, min(position, self.end))
        isBroken = position < 0 || position > self.end
    }

    var isAtEnd: Bool { position >= end }

    @inline(__always)
    mutating func skip(_ count: Int) {
        guard count >= 0, count <= end - position else { return fail() }
        position += count
    }

    mutating func skip(_ count: UInt64) {
        guard let count = Int(exactly: count) else { return fail() }
        skip(count)
    }

    /// To a place within the bytes; never further than their end.
    mutating func move(to target: Int) {
        guard target >= 0, target <= end else { return fail() }
        position = target
    }

    @inline(__always)
    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type
    ) -> Number {
        let size = MemoryLayout<Number>.size
        guard let start, size <= end - position else {
            fail()
            return 0
        }
        defer { position += size }
        return UnsafeRawPointer(start).loadUnaligned(fromByteOffset: position, as: type)
    }

    @inline(__always)
    mutating func byte() -> UInt8 { number(UInt8.self) }

    /// Little-endian, of 1 to 8 bytes.
    mutating func number(size: Int) -> UInt64 {
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
    @inline(__always)
    mutating func unsigned() -> UInt64 {
        let first = byte()
        return first < 0x80 ? UInt64(first) : unsignedRest(first)
    }

    private mutating func unsignedRest(_ first: UInt8) -> UInt64 {
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
    @inline(__always)
    mutating func signed() -> Int64 {
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

    @inline(__always)
    mutating func skipLEB() {
        while byte() >= 0x80 {}
    }

    mutating func skipText() {
        while byte() != 0 {}
    }

    private mutating func fail() {
        isBroken = true
        position = end
    }
}
