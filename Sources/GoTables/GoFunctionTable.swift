package import ELF

/// The table of functions that Go's linker puts into every program, for its own stack traces:
/// names, places in the source, and frame sizes. A stripped program still has it.
///
/// Its layout is that of Go's `runtime/symtab.go` and `debug/gosym/pclntab.go`: since Go 1.16, 1.18
/// and 1.20. A damaged, older or newer table gives nil. Addresses are the file's own.
///
/// Unsafe code: every read of the bytes is within them; they must stay where they are.
package struct GoFunctionTable: @unchecked Sendable {
    private let bytes: UnsafeRawBufferPointer
    private let layout: Layout
    /// Where its parts begin.
    private let names: Int
    private let units: Int
    private let files: Int
    private let values: Int
    private let functions: Int
    package let count: Int
    private let quantum: UInt64
    /// Functions' addresses are relative to this one.
    private let text: UInt64

    private struct Layout {
        /// True if addresses are offsets of 4 bytes from the text's begin, and false if they are
        /// whole ones.
        var isRelative: Bool

        var pairSize: Int { isRelative ? 8 : 16 }
        /// Where a function's fields begin, after its address.
        var fields: Int { isRelative ? 4 : 8 }
    }

    /// One of its functions.
    package struct Function: Hashable, Sendable {
        package var start: UInt64
        package var end: UInt64
        /// Where its fields are.
        fileprivate var place: Int
    }

    /// nil: the table is of an unknown kind.
    ///
    /// - Parameters:
    ///   - address: the table's address in the file.
    ///   - relocations: of the file (`Elf64_Rela`), for programs that may lie anywhere: the linker leaves
    ///     the text's address to them.
    package init?(
        _ bytes: UnsafeRawBufferPointer, at address: UInt64,
        relocations: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) {
        self.bytes = bytes
        guard let magic = bytes.number(UInt32.self, at: 0), bytes.count > 8, bytes[7] == 8,
            bytes[6] > 0
        else { return nil }
        switch magic {
        case 0xFFFF_FFFA: layout = Layout(isRelative: false)
        case 0xFFFF_FFF0, 0xFFFF_FFF1: layout = Layout(isRelative: true)
        default: return nil
        }
        quantum = UInt64(bytes[6])
        let words = (0..<8).map { bytes.number(UInt64.self, at: 8 + 8 * $0) }
        func offset(_ word: Int) -> Int? {
            words[word].flatMap { Int(exactly: $0) }.flatMap { $0 < bytes.count ? $0 : nil }
        }
        let first = layout.isRelative ? 3 : 2
        guard let number = words[0].flatMap({ Int(exactly: $0) }), number > 0,
            number <= Self.mostFunctions,
            let names = offset(first), let units = offset(first + 1), let files = offset(first + 2),
            let values = offset(first + 3), let functions = offset(first + 4),
            number <= (bytes.count - functions) / layout.pairSize,
            let told = layout.isRelative ? words[2] : 0,
            let text =
                !layout.isRelative || told != 0
                ? told : Self.target(of: address &+ 24, in: relocations)
        else { return nil }
        (self.names, self.units, self.files, self.values, self.functions) = (
            names, units, files, values, functions
        )
        (count, self.text) = (number, text)
    }

    /// Looks for the table in a section. For the parameters, see the initialiser.
    package static func find(
        in bytes: UnsafeRawBufferPointer, at address: UInt64,
        relocations: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> GoFunctionTable? {
        var tries = 0
        for place in stride(from: 0, to: max(0, bytes.count - 72), by: 8)
        where bytes[place] >= 0xF0 && bytes[place + 1] == 0xFF && bytes[place + 2] == 0xFF
            && bytes[place + 3] == 0xFF && bytes[place + 4] == 0 && bytes[place + 7] == 8
        {
            // Each attempt may search all relocations.
            guard tries < Self.mostTries else { return nil }
            tries += 1
            let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
            if let table = GoFunctionTable(
                rest, at: address &+ UInt64(place), relocations: relocations),
                table.isPlausible
            {
                return table
            }
        }
        return nil
    }

    private static let mostTries = 16
    /// More than any program has.
    private static let mostFunctions = 4 << 20

    /// Checks three functions, because a table's first four bytes soon occur by chance.
    private var isPlausible: Bool {
        [0, count / 2, count - 1].allSatisfy { index in
            function(index).flatMap { name(of: $0) } != nil
        }
    }

    /// The function that covers an address; nil: there is none.
    package func function(at address: UInt64) -> Function? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            guard let start = self.address(of: middle) else { return nil }
            if start <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0, let found = function(low - 1), address < found.end else { return nil }
        return found
    }

    /// nil: there are fewer, or it is damaged.
    package func function(_ index: Int) -> Function? {
        guard 0..<count ~= index, let start = address(of: index), let end = address(of: index + 1),
            start < end, let place = fields(of: index)
        else { return nil }
        return Function(start: start, end: end, place: place)
    }

    /// `net/http.(*conn).serve`.
    package func name(of function: Function) -> String? {
        field(0, of: function).flatMap { string(at: names, Int($0)) }
    }

    package func hasName(_ function: Function, beginning text: StaticString) -> Bool {
        guard let offset = field(0, of: function), Int(offset) < bytes.count - names else {
            return false
        }
        return text.withUTF8Buffer { bytes[(names + Int(offset))...].starts(with: $0) }
    }

    /// The distance of the return address above the stack pointer, at an instruction of the
    /// function; nil: unknown.
    package func frameSize(of function: Function, at address: UInt64) -> Int32? {
        value(3, of: function, at: address)
    }

    /// The source place of an instruction of the function's own. nil if the instruction was inlined
    /// from another file, since the function's name would not fit that file.
    package func source(
        of function: Function, at address: UInt64
    ) -> (file: String?, line: Int)? {
        guard let line = value(5, of: function, at: address), line > 0 else { return nil }
        let file = value(4, of: function, at: address)
        guard file == value(4, of: function, at: function.start) else { return nil }
        guard let file, file >= 0, let unit = field(7, of: function) else {
            return (nil, Int(line))
        }
        let place = bytes.number(UInt32.self, at: units + 4 * (Int(unit) + Int(file)))
        return (place.flatMap { $0 == .max ? nil : string(at: files, Int($0)) }, Int(line))
    }

    /// The value that a relocation without a symbol stores at an address.
    private static func target(of address: UInt64, in relocations: UnsafeRawBufferPointer)
        -> UInt64?
    {
        for place in stride(from: 0, to: relocations.count - 23, by: 24)
        where relocations.number(UInt64.self, at: place) == address {
            // A kind of relocation that names no symbol.
            guard let info = relocations.number(UInt64.self, at: place + 8), info >> 32 == 0 else {
                return nil
            }
            return relocations.number(UInt64.self, at: place + 16)
        }
        return nil
    }

    // MARK: Reading

    /// The address of a function by its number. The number after the last one gives the last
    /// function's end.
    private func address(of index: Int) -> UInt64? {
        let place = functions + layout.pairSize * index
        guard layout.isRelative else { return bytes.number(UInt64.self, at: place) }
        return bytes.number(UInt32.self, at: place).flatMap {
            let (sum, overflow) = text.addingReportingOverflow(UInt64($0))
            return overflow ? nil : sum
        }
    }

    private func fields(of index: Int) -> Int? {
        let pair = functions + layout.pairSize * index
        let offset =
            layout.isRelative
            ? bytes.number(UInt32.self, at: pair + 4).map(UInt64.init)
            : bytes.number(UInt64.self, at: pair + 8)
        return offset.flatMap { Int(exactly: $0) }
            .flatMap { $0 < bytes.count ? functions + $0 : nil }
    }

    /// Its fields: name, arguments, deferred return; the places of its values for stack, file and
    /// line; their number; its compilation unit.
    private func field(_ index: Int, of function: Function) -> UInt32? {
        bytes.number(UInt32.self, at: function.place + layout.fields + 4 * index)
    }

    private func string(at part: Int, _ offset: Int) -> String? {
        guard offset >= 0, offset < bytes.count - part else { return nil }
        let rest = bytes[(part + offset)...].prefix(Self.longestText)
        guard let end = rest.firstIndex(of: 0), end > rest.startIndex else { return nil }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static let longestText = 4096

    /// A value that changes from instruction to instruction. It is stored as pairs: the change of
    /// the value, and the distance for which the new value holds.
    private func value(_ field: Int, of function: Function, at address: UInt64) -> Int32? {
        guard let table = self.field(field, of: function), table != 0 else { return nil }
        var place = values + Int(table)
        var (pointer, value) = (function.start, Int32(-1))
        var isFirst = true
        while pointer < function.end {
            guard let change = varint(&place), isFirst || change != 0, let length = varint(&place),
                length > 0
            else { return nil }
            isFirst = false
            let half = Int32(bitPattern: change >> 1)
            value = value &+ (change & 1 == 0 ? half : ~half)
            pointer = pointer &+ UInt64(length) &* quantum
            if address < pointer { return value }
        }
        return nil
    }

    private func varint(_ place: inout Int) -> UInt32? {
        var (number, shift) = (UInt32(0), UInt32(0))
        while shift < 35 {
            guard place >= 0, place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            number |= UInt32(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }
}

extension GoFunctionTable {
    /// The sections that may have the table: first those that contain nothing else. The C linker
    /// puts it among other constants.
    private static let sections = ownSections + [".data.rel.ro", ".rodata"]
    private static let ownSections = [".gopclntab", ".data.rel.ro.gopclntab"]

    /// The sections of relocations, by the C linker's name and by the name of Go's own linker.
    private static let relocationSections = [".rela.dyn", ".rela"]

    /// Sections that only Go programs have. Each Go program has at least one of them.
    private static let signs = [".go.buildinfo", ".gopclntab"]

    /// True if a file is a Go program.
    package static func isExpected(in file: ELFFile) -> Bool {
        signs.contains { file.index(ofSection: $0) != nil }
    }

    /// A file's table, valid while the file lives; nil: it is no Go program, or its version is
    /// unknown.
    package init?(in file: ELFFile) {
        guard Self.isExpected(in: file) else { return nil }
        let relocations =
            Self.relocationSections.lazy.compactMap { file.index(ofSection: $0) }.first
            .map { file.bytes(ofSection: $0) } ?? UnsafeRawBufferPointer(start: nil, count: 0)
        for name in Self.sections {
            guard let section = file.index(ofSection: name) else { continue }
            let table = Self.find(
                in: file.bytes(ofSection: section), at: file.sections[section].address,
                relocations: relocations)
            guard let table else {
                if Self.ownSections.contains(name) { return nil }
                continue
            }
            self = table
            return
        }
        return nil
    }
}
