import Architecture
import ELF
import ProfileModel

/// Tells whether libunwind may read a function's entry. libunwind does not check its input: it
/// looks up a register that does not exist behind its own table, and a division may trap. So we
/// keep all entries from it that contain more than compilers need.
struct EntryInspection {
    private let section: TableSection

    private static let lastRegister = UInt64(Registers.count - 1)

    init(_ section: TableSection) { self.section = section }

    func isHarmless(_ entry: FunctionEntry) -> Bool {
        [entry.common.instructions, entry.instructions].allSatisfy(isHarmless)
    }

    /// DWARF 5, 6.4.2.
    private func isHarmless(_ instructions: Range<Int>) -> Bool {
        var cursor = section.cursor(instructions)
        while !cursor.isAtEnd {
            let code = cursor.byte()
            switch code {
            case 0x40...0x7F, 0x00, 0x0A, 0x0B: break
            case 0x80...0xBF:
                guard UInt64(code & 0x3F) <= Self.lastRegister else { return false }
                _ = cursor.unsigned()
            case 0xC0...0xFF: guard UInt64(code & 0x3F) <= Self.lastRegister else { return false }
            case 0x02: cursor.skip(1)
            case 0x03: cursor.skip(2)
            case 0x04: cursor.skip(4)
            case 0x05, 0x0C, 0x14:
                guard hasRegister(&cursor) else { return false }
                _ = cursor.unsigned()
            case 0x06, 0x07, 0x08, 0x0D: guard hasRegister(&cursor) else { return false }
            case 0x09:
                guard hasRegister(&cursor), hasRegister(&cursor) else { return false }
            case 0x0E, 0x2E: _ = cursor.unsigned()
            case 0x0F: guard hasExpression(&cursor) else { return false }
            case 0x10, 0x16:
                guard hasRegister(&cursor), hasExpression(&cursor) else { return false }
            case 0x11, 0x12, 0x15:
                guard hasRegister(&cursor) else { return false }
                _ = cursor.signed()
            case 0x13: _ = cursor.signed()
            default: return false
            }
            guard !cursor.isBroken else { return false }
        }
        return true
    }

    private func hasRegister(_ cursor: inout ByteCursor) -> Bool {
        cursor.unsigned() <= Self.lastRegister && !cursor.isBroken
    }

    /// An expression without branches, so that exactly the operations seen here run; and without
    /// divisions (2.5.1).
    private func hasExpression(_ cursor: inout ByteCursor) -> Bool {
        let size = cursor.unsigned()
        guard !cursor.isBroken, size <= UInt64(cursor.end &- cursor.position) else { return false }
        let end = cursor.position &+ Int(size)
        while cursor.position < end {
            let code = cursor.byte()
            switch code {
            case 0x06, 0x12...0x14, 0x16, 0x17, 0x19, 0x1A, 0x1C, 0x1E...0x22, 0x24...0x27,
                0x29...0x2E, 0x30...0x4F, 0x50...0x60, 0x96, 0x9C:
                break
            case 0x03, 0x0E, 0x0F: cursor.skip(8)
            case 0x08, 0x09, 0x15, 0x94: cursor.skip(1)
            case 0x0A, 0x0B: cursor.skip(2)
            case 0x0C, 0x0D: cursor.skip(4)
            case 0x10, 0x23: _ = cursor.unsigned()
            case 0x11, 0x70...0x80: _ = cursor.signed()
            case 0x92:
                guard hasRegister(&cursor) else { return false }
                _ = cursor.signed()
            default: return false
            }
        }
        return !cursor.isBroken && cursor.position == end
    }
}
