import ELF

/// A section's bytes, valid while its file is open, and their address in the module.
struct TableSection {
    var bytes: UnsafeRawBufferPointer
    var address: UInt64

    func cursor(_ range: Range<Int>) -> ByteCursor {
        ByteCursor(bytes, at: range.lowerBound, end: range.upperBound)
    }

    func cursor(from position: Int) -> ByteCursor { ByteCursor(bytes, at: position) }

    /// The position of an address in the section; nil outside.
    func position(of address: UInt64) -> Int? {
        let offset = address &- self.address
        return offset < UInt64(bytes.count) ? Int(truncatingIfNeeded: offset) : nil
    }
}

/// How an address is encoded in exception tables (Linux Standard Base 5.0, 10.5.1).
struct PointerEncoding {
    static let absolute = PointerEncoding(rawValue: 0)
    var rawValue: UInt8

    /// Reads a pointer; nil for an encoding that compilers do not use.
    func read(_ cursor: inout ByteCursor, _ section: TableSection) -> UInt64? {
        let place = section.address &+ UInt64(cursor.position)
        guard let value = readNumber(&cursor) else { return nil }
        switch rawValue & 0xF0 {
        case 0: return value
        case 0x10: return place &+ value
        default: return nil
        }
    }

    /// Only the number: this is how the size of a function is written.
    func readNumber(_ cursor: inout ByteCursor) -> UInt64? {
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
