internal import CElfutils
internal import ELF

extension LineTable {
    /// A table with more sequences must be fabricated.
    static let mostSequences = 1 << 18

    /// Finds the rows that cover the wanted addresses. If several sequences cover an address, the
    /// one that begins last counts; among equals the last one. Functions that the linker has
    /// dropped keep their sequences, which begin at 0, 1 or the like: they do not describe the code
    /// at those addresses.
    ///
    /// Rows are not stored: each is compared with the next wanted address, and forgotten.
    /// - Parameter code: the file's range of code. A sequence that begins outside it belongs to a
    ///   dropped function.
    /// - Parameter known: the sequences that exist; nil: the whole program is run.
    /// - Returns: one position for each address, and the sequences that were met.
    func positions(
        of wanted: WantedAddresses, code: Range<UInt64>, in known: ContiguousArray<SequencePlace>?
    ) -> (found: [LinePosition?], sequences: ContiguousArray<SequencePlace>) {
        var run = LineRun(self, wanted, code: code)
        if let known { run.only(known) } else { run.all() }
        return (run.found, run.sequences)
    }
}

/// The line number program's state machine.
private struct LineRun {
    var found: [LinePosition?]
    private(set) var sequences: ContiguousArray<SequencePlace> = []
    /// The state of the current sequence.
    private var first: Int
    private var lowest: UInt64 = .max
    private var highest: UInt64 = 0
    private var ended = 0
    /// Where the sequence of each found row begins.
    private var starts: [UInt64]
    private let code: Range<UInt64>
    /// Where the current sequence begins, and whether this is outside the file's code.
    private var start: UInt64 = 0
    private var isDropped = false
    private let wanted: WantedAddresses
    private let shape: LineTable.Shape
    private var cursor: ByteCursor
    private var address: UInt64 = 0
    private var file: UInt64 = 1
    private var line: UInt32 = 1
    /// The previous row, which reaches to the next one; nil at a sequence's start.
    private var last: (address: UInt64, position: LinePosition)?
    /// The first wanted address from the previous row on, and its index.
    private var next: UInt64 = .max
    private var nextIndex = 0
    /// For each special opcode, how much it adds to address and line.
    private let advances: [(address: UInt64, line: UInt32)]

    init(_ table: LineTable, _ wanted: WantedAddresses, code: Range<UInt64>) {
        self.code = code
        found = Array(repeating: nil, count: wanted.all.count)
        starts = Array(repeating: 0, count: wanted.all.count)
        self.wanted = wanted
        shape = table.shape
        cursor = table.program
        first = table.program.position
        let shape = table.shape
        advances = (0...255).map { opcode in
            guard opcode >= Int(shape.opcodeBase), shape.lineRange > 0 else { return (0, 0) }
            let adjusted = opcode - Int(shape.opcodeBase)
            let lines = shape.lineBase + Int64(adjusted % Int(shape.lineRange))
            return (
                UInt64(adjusted / Int(shape.lineRange)) &* shape.minimum,
                UInt32(truncatingIfNeeded: lines)
            )
        }
    }

    mutating func all() {
        while !cursor.isAtEnd { step() }
        note()
    }

    /// Runs only those sequences that contain a wanted address.
    mutating func only(_ known: ContiguousArray<SequencePlace>) {
        for sequence in known where wanted.touch(sequence.range) {
            cursor.move(to: sequence.offset)
            let count = ended
            while !cursor.isAtEnd, ended == count { step() }
        }
    }

    @inline(__always)
    private mutating func step() {
        let opcode = cursor.byte()
        if opcode >= shape.opcodeBase {
            let advance = advances[Int(opcode)]
            address &+= advance.address
            line &+= advance.line
            emit()
        } else if opcode == 0 {
            extended()
        } else {
            standard(opcode)
        }
    }

    @inline(__always)
    private mutating func emit() {
        if isDropped { return }
        if let last, address >= last.address {
            if next < address { assign() }
        } else {
            begin()
            if isDropped { return }
        }
        last = (address, LinePosition(file: file, line: line))
    }

    /// Begins a sequence at the current address.
    private mutating func begin() {
        if last == nil, !code.contains(address) {
            isDropped = true
            return
        }
        start = address
        lowest = min(lowest, address)
        highest = max(highest, last?.address ?? address)
        nextIndex = wanted.first(from: address)
        next = nextIndex < wanted.all.endIndex ? wanted.all[nextIndex] : .max
    }

    /// Assigns the previous row to all wanted addresses before this one.
    private mutating func assign() {
        guard let last else { return }
        while next < address {
            let place = nextIndex - wanted.all.startIndex
            if found[place] == nil || starts[place] <= start {
                found[place] = last.position
                starts[place] = start
            }
            nextIndex += 1
            guard nextIndex < wanted.all.endIndex else {
                next = .max
                return
            }
            next = wanted.all[nextIndex]
        }
    }

    private mutating func endSequence() {
        if let last {
            if address >= last.address, next < address { assign() }
            highest = max(highest, address)
        }
        note()
        last = nil
        isDropped = false
        address = 0
        file = 1
        line = 1
    }

    /// Records the sequence that ends here, unless it has no rows.
    private mutating func note() {
        if let last, sequences.count < LineTable.mostSequences {
            highest = max(highest, last.address)
            sequences.append(SequencePlace(range: lowest..<highest, offset: first))
        }
        ended += 1
        lowest = .max
        highest = 0
    }

    private mutating func extended() {
        let length = cursor.unsigned()
        guard let length = Int(exactly: length), length > 0,
            length <= cursor.end - cursor.position
        else { return cursor.move(to: -1) }
        let end = cursor.position + length
        let opcode = Int(cursor.byte())
        switch opcode {
        case DW_LNE_end_sequence: endSequence()
        case DW_LNE_set_address: address = cursor.number(size: min(length - 1, 8))
        default: break
        }
        cursor.move(to: end)
        if opcode == DW_LNE_end_sequence { first = end }
    }

    @inline(__always)
    private mutating func standard(_ opcode: UInt8) {
        switch Int(opcode) {
        case DW_LNS_copy: emit()
        case DW_LNS_advance_pc: address &+= cursor.unsigned() &* shape.minimum
        case DW_LNS_advance_line:
            line = UInt32(truncatingIfNeeded: Int64(line) &+ cursor.signed())
        case DW_LNS_set_file: file = cursor.unsigned()
        case DW_LNS_set_column: cursor.skipLEB()
        case DW_LNS_negate_stmt, DW_LNS_set_basic_block, DW_LNS_set_prologue_end,
            DW_LNS_set_epilogue_begin:
            break
        case DW_LNS_const_add_pc: address &+= advances[255].address
        case DW_LNS_fixed_advance_pc: address &+= UInt64(cursor.number(UInt16.self))
        default:
            for _ in 0..<shape.operands[Int(opcode)] { cursor.skipLEB() }
        }
    }
}
