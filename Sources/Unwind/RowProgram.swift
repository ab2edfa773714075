import ELF

/// Runs a function's call frame instructions (DWARF 5, 6.4.2) up to an address. It keeps those
/// parts of the resulting row that an ``UnwindRule`` can express.
struct RowProgram {
    private let section: TableSection
    private let entry: FunctionEntry
    private let address: UInt64
    private var location: UInt64
    private var row = UnwindRow()
    private var initialRow = UnwindRow()
    private var remembered: [UnwindRow] = []
    private static let depthLimit = 64

    /// - Returns: nil if libdw should be asked: an instruction is damaged, or unknown here.
    static func row(
        of entry: FunctionEntry, at address: UInt64, in section: TableSection
    ) -> UnwindRow? {
        var program = RowProgram(entry, address, section)
        guard program.run(entry.common.instructions, isInitial: true) else { return nil }
        program.initialRow = program.row
        guard program.run(entry.instructions, isInitial: false) else { return nil }
        return program.row
    }

    private init(_ entry: FunctionEntry, _ address: UInt64, _ section: TableSection) {
        self.entry = entry
        self.address = address
        self.section = section
        location = entry.start
    }

    private mutating func run(_ range: Range<Int>, isInitial: Bool) -> Bool {
        var cursor = section.cursor(range)
        while !cursor.isAtEnd {
            let instruction = cursor.byte()
            let operand = UInt64(instruction & 0x3F)
            switch instruction >> 6 {
            case 1:
                guard !isInitial else { return false }
                if !advance(operand) { return true }
            case 2:
                row.save(operand, at: scaled(cursor.unsigned()))
            case 3:
                guard !isInitial else { return false }
                row.restore(operand, from: initialRow)
            default:
                switch runExtended(instruction, &cursor, isInitial) {
                case .next: break
                case .found: return true
                case .unknown: return false
                }
            }
        }
        return !cursor.isBroken
    }

    private enum Step {
        case next
        /// The row for the address is complete.
        case found
        case unknown
    }

    /// Moves to the next row; false if the address is before that row.
    private mutating func advance(_ delta: UInt64) -> Bool {
        let next = location &+ (delta &* entry.common.codeAlignment)
        if next > address { return false }
        location = next
        return true
    }

    private func scaled(_ factor: UInt64) -> Int64 {
        Int64(bitPattern: factor) &* entry.common.dataAlignment
    }

    private mutating func runExtended(
        _ instruction: UInt8, _ cursor: inout ByteCursor, _ isInitial: Bool
    ) -> Step {
        switch instruction {
        case 0x00:  // nop
            break
        case 0x01:  // set_loc
            guard !isInitial, let next = entry.common.encoding.read(&cursor, section) else {
                return .unknown
            }
            if next > address { return .found }
            location = next
        case 0x02...0x04:  // advance_loc1, 2, 4
            guard !isInitial else { return .unknown }
            let delta =
                switch instruction {
                case 0x02: UInt64(cursor.byte())
                case 0x03: UInt64(cursor.number(UInt16.self))
                default: UInt64(cursor.number(UInt32.self))
                }
            if !advance(delta) { return .found }
        case 0x06:  // restore_extended
            guard !isInitial else { return .unknown }
            row.restore(cursor.unsigned(), from: initialRow)
        case 0x0A:  // remember_state
            guard remembered.count < Self.depthLimit else { return .unknown }
            remembered.append(row)
        case 0x0B:  // restore_state
            guard let last = remembered.popLast() else { return .unknown }
            row = last
        case 0x2E:  // GNU_args_size
            _ = cursor.unsigned()
        case 0x0C...0x0F, 0x12, 0x13:
            return defineFrame(instruction, &cursor)
        default:
            return defineRegister(instruction, &cursor)
        }
        return .next
    }

    private mutating func defineFrame(_ instruction: UInt8, _ cursor: inout ByteCursor) -> Step {
        switch instruction {
        case 0x0C:  // def_cfa
            let register = cursor.unsigned()
            row.frame = .register(register, Int64(bitPattern: cursor.unsigned()))
        case 0x12:  // def_cfa_sf
            let register = cursor.unsigned()
            row.frame = .register(register, cursor.signed() &* entry.common.dataAlignment)
        case 0x0D:  // def_cfa_register
            guard case .register(_, let offset) = row.frame else { return .unknown }
            row.frame = .register(cursor.unsigned(), offset)
        case 0x0E, 0x13:  // def_cfa_offset, def_cfa_offset_sf
            guard case .register(let register, _) = row.frame else { return .unknown }
            let offset =
                instruction == 0x0E
                ? Int64(bitPattern: cursor.unsigned())
                : cursor.signed() &* entry.common.dataAlignment
            row.frame = .register(register, offset)
        default:  // def_cfa_expression
            guard let operations = expression(&cursor) else { return .unknown }
            row.frame = UnwindRow.Frame(expression: section.cursor(operations))
        }
        return .next
    }

    private mutating func defineRegister(
        _ instruction: UInt8, _ cursor: inout ByteCursor
    ) -> Step {
        let register = cursor.unsigned()
        switch instruction {
        case 0x05:  // offset_extended
            row.save(register, at: scaled(cursor.unsigned()))
        case 0x11:  // offset_extended_sf
            row.save(register, at: cursor.signed() &* entry.common.dataAlignment)
        case 0x2F:  // GNU_negative_offset_extended
            row.save(register, at: 0 &- scaled(cursor.unsigned()))
        case 0x07:  // undefined
            row.set(register, .undefined)
        case 0x08:  // same_value
            row.set(register, .unchanged)
        case 0x09, 0x14:  // register, val_offset
            _ = cursor.unsigned()
            row.set(register, .other)
        case 0x15:  // val_offset_sf
            _ = cursor.signed()
            row.set(register, .other)
        case 0x10:  // expression
            guard let operations = expression(&cursor) else { return .unknown }
            row.set(register, UnwindRow.Place(expression: section.cursor(operations)))
        case 0x16:  // val_expression
            guard expression(&cursor) != nil else { return .unknown }
            row.set(register, .other)
        default:
            return .unknown
        }
        return .next
    }

    private func expression(_ cursor: inout ByteCursor) -> Range<Int>? {
        let length = cursor.unsigned()
        let start = cursor.position
        cursor.skip(length)
        return cursor.isBroken ? nil : start..<cursor.position
    }
}
