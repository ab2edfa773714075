internal import CElfutils
internal import ELF

// Raw memory: names lie in the sections of the `DwarfImage`.

/// An address's place in the source: a file in the unit's line table, and a line, 0 for none.
struct LinePosition {
    var file: UInt64
    var line: UInt32
}

/// The header of a unit's line table: its source files, and how its program is encoded.
struct LineTable {
    private(set) var files: ContiguousArray<File> = []
    private(set) var folders: ContiguousArray<UnsafeRawBufferPointer> = []
    let version: UInt16
    private(set) var shape = Shape()
    private(set) var program: ByteCursor

    struct File {
        var name: UnsafeRawBufferPointer
        /// An index into `folders`.
        var folder: UInt64
    }

    /// How the program is encoded.
    struct Shape {
        var minimum: UInt64 = 1
        var addressSize = 8
        var lineBase: Int64 = 0
        var lineRange: UInt8 = 1
        var opcodeBase: UInt8 = 1
        /// The number of operands of each standard opcode.
        var operands: ContiguousArray<UInt8> = []
    }

    /// No program has more files; a damaged table may claim one file for each byte.
    private static let mostFiles = 1 << 20

    init?(_ unit: UnitReader) {
        let place = unit.root.lineTable
        guard place.isThere else { return nil }
        var cursor = ByteCursor(unit.image.sections.lines, at: Int(clamping: place.number))
        guard let length = cursor.initialLength() else { return nil }
        let end = cursor.position + length.bytes
        cursor = ByteCursor(unit.image.sections.lines, at: cursor.position, end: end)
        version = cursor.number(UInt16.self)
        guard (2...5).contains(version) else { return nil }
        shape.addressSize = Int(unit.header.sizes.address)
        if version >= 5 {
            shape.addressSize = Int(cursor.byte())
            cursor.skip(1)
        }
        let headerLength = Int(clamping: cursor.number(size: length.offsetSize))
        let start = cursor.position.addingReportingOverflow(headerLength)
        guard !start.overflow, start.partialValue <= end else { return nil }
        program = ByteCursor(unit.image.sections.lines, at: start.partialValue, end: end)
        shape.read(&cursor, version: version)
        guard !cursor.isBroken else { return nil }
        let sizes = FormSizes(
            address: UInt8(clamping: shape.addressSize), offset: UInt8(length.offsetSize),
            reference: UInt8(length.offsetSize))
        if version >= 5 {
            readFolders(&cursor, unit, sizes)
            readFiles(&cursor, unit, sizes)
        } else {
            readOldFiles(&cursor, unit)
        }
    }

    // MARK: - Files

    private mutating func readOldFiles(_ cursor: inout ByteCursor, _ unit: UnitReader) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        folders.append(unit.text(unit.root.folder) ?? nothing)
        while folders.count < Self.mostFiles, let folder = cursor.text(unit.image.sections.lines),
            !folder.isEmpty
        {
            folders.append(folder)
        }
        // Files are numbered from 1.
        files.append(File(name: nothing, folder: 0))
        while files.count < Self.mostFiles,
            let file = readOldFile(&cursor, unit.image.sections.lines)
        {
            files.append(file)
        }
    }

    private func readOldFile(
        _ cursor: inout ByteCursor, _ bytes: UnsafeRawBufferPointer
    ) -> File? {
        guard let name = cursor.text(bytes), !name.isEmpty else { return nil }
        let folder = cursor.unsigned()
        cursor.skipLEB()
        cursor.skipLEB()
        return cursor.isBroken ? nil : File(name: name, folder: folder)
    }

    private mutating func readFolders(
        _ cursor: inout ByteCursor, _ unit: UnitReader, _ sizes: FormSizes
    ) {
        readTable(&cursor, unit, sizes) { folders.append($0.name) }
    }

    private mutating func readFiles(
        _ cursor: inout ByteCursor, _ unit: UnitReader, _ sizes: FormSizes
    ) {
        readTable(&cursor, unit, sizes) { files.append($0) }
    }

    /// DWARF 5: first the format of the entries, then the entries.
    private func readTable(
        _ cursor: inout ByteCursor, _ unit: UnitReader, _ sizes: FormSizes, _ add: (File) -> Void
    ) {
        let formats = (0..<cursor.byte()).map { _ in
            let content = cursor.unsigned()
            return (content, AttributeSpec(name: 0, form: cursor.unsigned(), sizes))
        }
        let count = cursor.unsigned()
        // If entries took no bytes, the table's size would not limit their number.
        guard !formats.isEmpty, count < UInt64(Self.mostFiles) else { return }
        for _ in 0..<count {
            var file = File(name: UnsafeRawBufferPointer(start: nil, count: 0), folder: 0)
            for (content, spec) in formats {
                let value = cursor.value(spec, sizes)
                if content == UInt64(DW_LNCT_path) {
                    let isHere = Int(value.form) == DW_FORM_string
                    let text =
                        isHere
                        ? UnitReader.text(
                            in: unit.image.sections.lines, at: Int(clamping: value.number))
                        : unit.text(value)
                    if let text { file.name = text }
                } else if content == UInt64(DW_LNCT_directory_index) {
                    file.folder = value.number
                }
            }
            guard !cursor.isBroken else { return }
            add(file)
        }
    }
}

extension LineTable.Shape {
    fileprivate mutating func read(_ cursor: inout ByteCursor, version: UInt16) {
        minimum = UInt64(cursor.byte())
        // We know no machine with instructions in bundles.
        if version >= 4 { cursor.skip(1) }
        cursor.skip(1)
        lineBase = Int64(cursor.number(Int8.self))
        lineRange = cursor.byte()
        opcodeBase = cursor.byte()
        operands = [0]
        if opcodeBase > 1 { operands += (1..<opcodeBase).map { _ in cursor.byte() } }
    }
}

extension ByteCursor {
    /// The text that begins here; moves behind it.
    fileprivate mutating func text(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let text = bytes.text(at: position) else { return nil }
        skip(text.count + 1)
        return isBroken ? nil : text
    }
}
