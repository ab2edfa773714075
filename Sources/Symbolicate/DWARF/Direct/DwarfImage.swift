internal import CElfutils
internal import ELF
internal import ProfileModel

// Raw memory: sections are read where the file is mapped, or where libelf unpacked them. They do
// not change while the `DwarfImage` lives, so threads may read them at the same time.

/// The DWARF sections of one file, and its units.
///
/// Threads share it: it never changes.
final class DwarfImage: @unchecked Sendable {
    let sections: DwarfSections
    /// In the order of the file.
    let units: [UnitHeader]
    /// The common file into which `dwz` moved parts of several files.
    let alternate: DwarfImage?
    /// The sections that had to be unpacked, by name.
    let unpacked: [(name: String, bytes: UnsafeRawBufferPointer)]
    /// The file that holds the sections.
    private let file: ELFFile
    private let known: UnpackedSections?

    /// nil if the file has no DWARF, or none that we can read.
    /// - Parameter known: sections of the same file that were unpacked before.
    init?(_ file: ELFFile, alternate: DwarfImage?, known: UnpackedSections? = nil) {
        var reader = SectionReader(file, known: known)
        sections = DwarfSections(&reader)
        guard !sections.info.isEmpty else { return nil }
        self.file = file
        self.known = known
        self.alternate = alternate
        unpacked = reader.unpacked
        units = UnitHeader.all(of: sections.info)
    }

    /// The part of a unit in another file.
    /// - Parameters:
    ///   - sections: as they would be in a `.dwo` file.
    ///   - known: contains those sections that are not in the file.
    ///   - most: the largest possible number of units.
    init?(
        split sections: DwarfSections, of file: ELFFile, known: UnpackedSections?, most: Int
    ) {
        guard !sections.info.isEmpty else { return nil }
        self.sections = sections
        self.file = file
        self.known = known
        alternate = nil
        unpacked = []
        units = UnitHeader.all(of: sections.info, most: most)
    }

    /// The unit that contains an offset in `.debug_info`.
    func unit(holding offset: Int) -> Int? {
        let next = units.partitionIndex { $0.firstEntry > offset }
        guard next > 0, offset < units[next - 1].end else { return nil }
        return next - 1
    }
}

/// Where a unit is, and how its content is encoded.
struct UnitHeader {
    /// Offsets in `.debug_info`.
    var start: Int
    var firstEntry: Int
    var end: Int
    var version: UInt16
    /// DW_UT_…; DW_UT_compile for units before DWARF 5.
    var kind: UInt8
    /// An offset in `.debug_abbrev`.
    var abbreviations: Int
    /// The id that a skeleton shares with its split unit (DWARF 5).
    private(set) var splitID: UInt64?
    var sizes: FormSizes

    /// True if this reader can read the unit; libdw reads the others.
    var isReadable: Bool {
        (2...5).contains(version) && (sizes.address == 8 || sizes.address == 4)
            && (hasCode || isSplitHalf || Int(kind) == DW_UT_partial)
    }

    /// True if the unit may tell where its code is.
    var hasCode: Bool { Int(kind) == DW_UT_compile || Int(kind) == DW_UT_skeleton }

    /// True if it may be the other part of a skeleton. In DWARF 4 such units look like others.
    var isSplitHalf: Bool {
        Int(kind) == DW_UT_split_compile || version < 5 && Int(kind) == DW_UT_compile
    }

    /// All units of the section, as far as it is sound.
    static func all(of info: UnsafeRawBufferPointer, most: Int = .max) -> [UnitHeader] {
        var result: [UnitHeader] = []
        var cursor = ByteCursor(info, at: 0)
        while !cursor.isAtEnd, result.count < most {
            guard let header = UnitHeader(&cursor) else { break }
            result.append(header)
        }
        return result
    }

    /// Reads a header, and moves to the next one.
    private init?(_ cursor: inout ByteCursor) {
        start = cursor.position
        guard let length = cursor.initialLength() else { return nil }
        end = cursor.position + length.bytes
        version = cursor.number(UInt16.self)
        kind = UInt8(DW_UT_compile)
        var address: UInt8 = 0
        if version >= 5 {
            kind = cursor.byte()
            address = cursor.byte()
        }
        abbreviations = Int(clamping: cursor.number(size: length.offsetSize))
        if version < 5 { address = cursor.byte() }
        if Int(kind) == DW_UT_skeleton || Int(kind) == DW_UT_split_compile {
            splitID = cursor.number(UInt64.self)
        }
        let offset = UInt8(length.offsetSize)
        sizes = FormSizes(
            address: address, offset: offset, reference: version <= 2 ? address : offset)
        firstEntry = cursor.position
        guard !cursor.isBroken, firstEntry <= end else { return nil }
        cursor.move(to: end)
    }
}

extension ByteCursor {
    /// Reads the length of the data after it, which must be within the bytes, and the size of
    /// offsets in these data.
    mutating func initialLength() -> (bytes: Int, offsetSize: Int)? {
        var length = UInt64(number(UInt32.self))
        var offsetSize = 4
        if length == 0xFFFF_FFFF {
            length = number(UInt64.self)
            offsetSize = 8
        }
        guard !isBroken, let bytes = Int(exactly: length), bytes <= end - position else {
            return nil
        }
        return (bytes, offsetSize)
    }
}
