/// Reads numbers from the bytes of an unwind table (little-endian; DWARF 5, 7.6 for LEB128). Past
/// its end all are 0, and `isBad` says so.
///
/// Unsafe code: every read is checked against `end`, which is never behind the last byte.
struct TableCursor {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position: Int
    let end: Int
    private(set) var isBad = false

    /// - Parameter range: cut to what there is.
    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        end = max(0, min(range.upperBound, bytes.count))
        position = max(0, min(range.lowerBound, end))
        isBad = position != range.lowerBound
    }

    var isAtEnd: Bool { position >= end || isBad }

    @inline(__always)
    mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number {
        let size = MemoryLayout<Number>.size
        guard end &- position >= size, let base = bytes.baseAddress else {
            isBad = true
            return 0
        }
        defer { position &+= size }
        return Number(littleEndian: base.loadUnaligned(fromByteOffset: position, as: Number.self))
    }

    @inline(__always)
    mutating func byte() -> UInt8 { number(UInt8.self) }

    @inline(__always)
    mutating func unsigned() -> UInt64 {
        let first = byte()
        return first < 0x80 ? UInt64(first) : longNumber(first).value
    }

    @inline(__always)
    mutating func signed() -> Int64 {
        let first = byte()
        let (value, bits) = first < 0x80 ? (UInt64(first), 7) : longNumber(first)
        let shift = UInt64(clamping: 64 &- bits)
        return Int64(bitPattern: value << shift) >> Int64(shift)
    }

    /// The rest of a number that began with a byte; what exceeds 64 bits is lost.
    private mutating func longNumber(_ first: UInt8) -> (value: UInt64, bits: Int) {
        var value = UInt64(first & 0x7F)
        var bits = 7
        while !isBad {
            let next = byte()
            if bits < 64 { value |= UInt64(next & 0x7F) << UInt64(bits) }
            bits = min(bits &+ 7, 70)
            if next < 0x80 { break }
        }
        return (value, min(bits, 64))
    }

    mutating func skip(_ count: UInt64) {
        guard count <= UInt64(max(0, end &- position)) else {
            isBad = true
            return
        }
        position &+= Int(truncatingIfNeeded: count)
    }

    /// The bytes up to the next zero byte, which is passed over.
    mutating func text() -> Range<Int> {
        let start = position
        while byte() != 0, !isBad {}
        return start..<max(start, position &- 1)
    }
}

/// A section's bytes, as long as its file is open, and where they lie in the module's addresses.
struct TableSection {
    var bytes: UnsafeRawBufferPointer
    var address: UInt64

    func cursor(_ range: Range<Int>) -> TableCursor { TableCursor(bytes, range) }

    func cursor(from position: Int) -> TableCursor {
        TableCursor(bytes, max(0, min(position, bytes.count))..<bytes.count)
    }

    /// Where in the section an address is; nil outside.
    func position(of address: UInt64) -> Int? {
        let offset = address &- self.address
        return offset < UInt64(bytes.count) ? Int(truncatingIfNeeded: offset) : nil
    }
}

/// How an address is written in exception tables (Linux Standard Base 5.0, 10.5.1).
struct PointerEncoding {
    static let absolute = PointerEncoding(rawValue: 0)
    var rawValue: UInt8

    /// A pointer, and how far a plain number of it reaches; nil where it is written in a way that
    /// compilers for x86-64 do not use.
    func read(_ cursor: inout TableCursor, _ section: TableSection) -> UInt64? {
        let place = section.address &+ UInt64(cursor.position)
        guard let value = readNumber(&cursor) else { return nil }
        switch rawValue & 0xF0 {
        case 0: return value
        case 0x10: return place &+ value
        default: return nil
        }
    }

    /// Only the number, as the size of a function is written.
    func readNumber(_ cursor: inout TableCursor) -> UInt64? {
        switch rawValue & 0x0F {
        case 0, 4, 12: cursor.number(UInt64.self)
        case 1: cursor.unsigned()
        case 2: UInt64(cursor.number(UInt16.self))
        case 3: UInt64(cursor.number(UInt32.self))
        case 9: UInt64(bitPattern: cursor.signed())
        case 10: UInt64(bitPattern: Int64(cursor.number(Int16.self)))
        case 11: UInt64(bitPattern: Int64(cursor.number(Int32.self)))
        default: nil
        }
    }
}
