internal import CElfutils

// Raw memory: sections are read where the file is mapped, or where libelf unpacked them. They stay
// as they are while the `DwarfImage` lives, so that threads may read them at once.

/// The sections of DWARF of one file, and its units.
///
/// Threads share it: nothing in it changes after it was made.
final class DwarfImage: @unchecked Sendable {
    let info: UnsafeRawBufferPointer
    let abbreviations: UnsafeRawBufferPointer
    let lines: UnsafeRawBufferPointer
    let strings: UnsafeRawBufferPointer
    let lineStrings: UnsafeRawBufferPointer
    let stringOffsets: UnsafeRawBufferPointer
    let addresses: UnsafeRawBufferPointer
    let ranges: UnsafeRawBufferPointer
    let rangeLists: UnsafeRawBufferPointer
    /// In the order of the file.
    let units: [UnitHeader]
    /// What `dwz` moved out of several files into a common one.
    let alternate: DwarfImage?
    /// The sections that had to be unpacked, by name.
    let unpacked: [(name: String, bytes: UnsafeRawBufferPointer)]
    private let file: ElfFile
    private let known: UnpackedSections?

    /// nil when the file has no DWARF, or none that can be read here.
    /// - Parameter known: sections of the same file that were unpacked before.
    init?(_ file: ElfFile, alternate: DwarfImage?, known: UnpackedSections? = nil) {
        var unpacked: [(name: String, bytes: UnsafeRawBufferPointer)] = []
        func section(_ name: String) -> UnsafeRawBufferPointer {
            if let known = known?[name] { return known }
            switch file.debugSection(name) {
            case .plain(let bytes): return bytes
            case .unpacked(let bytes):
                unpacked.append((name, bytes))
                return bytes
            case nil: return UnsafeRawBufferPointer(start: nil, count: 0)
            }
        }
        info = section(".debug_info")
        guard !info.isEmpty else { return nil }
        self.file = file
        self.known = known
        self.alternate = alternate
        abbreviations = section(".debug_abbrev")
        lines = section(".debug_line")
        strings = section(".debug_str")
        lineStrings = section(".debug_line_str")
        stringOffsets = section(".debug_str_offsets")
        addresses = section(".debug_addr")
        ranges = section(".debug_ranges")
        rangeLists = section(".debug_rnglists")
        self.unpacked = unpacked
        units = UnitHeader.all(of: info)
    }

    /// The unit that an offset of `.debug_info` lies in.
    func unit(holding offset: Int) -> Int? {
        var (low, high) = (0, units.count)
        while low < high {
            let middle = (low + high) / 2
            if units[middle].firstEntry <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0, offset < units[low - 1].end else { return nil }
        return low - 1
    }
}

/// Where a unit is, and how what is in it is written.
struct UnitHeader {
    /// Offsets of `.debug_info`.
    var start: Int
    var firstEntry: Int
    var end: Int
    var version: UInt16
    /// DW_UT_…; of units before DWARF 5, DW_UT_compile.
    var kind: UInt8
    /// An offset of `.debug_abbrev`.
    var abbreviations: Int
    var sizes: FormSizes

    /// Whether this reader knows how: the rest is libdw's.
    var isReadable: Bool {
        (2...5).contains(version) && (sizes.address == 8 || sizes.address == 4)
            && (hasCode || Int(kind) == DW_UT_partial)
    }

    /// Whether it may say where its code is.
    var hasCode: Bool { Int(kind) == DW_UT_compile || Int(kind) == DW_UT_skeleton }

    /// All units of the section, as far as it is sound.
    static func all(of info: UnsafeRawBufferPointer) -> [UnitHeader] {
        var result: [UnitHeader] = []
        var cursor = ByteCursor(info, at: 0)
        while !cursor.isAtEnd {
            guard let header = UnitHeader(&cursor) else { break }
            result.append(header)
        }
        return result
    }

    /// Reads a header, and goes on to the next one.
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
        // The id of the file that has the rest.
        if Int(kind) == DW_UT_skeleton { cursor.skip(8) }
        let offset = UInt8(length.offsetSize)
        sizes = FormSizes(
            address: address, offset: offset, reference: version <= 2 ? address : offset)
        firstEntry = cursor.position
        guard !cursor.isBroken, firstEntry <= end else { return nil }
        cursor.move(to: end)
    }
}

extension ByteCursor {
    /// How long what follows is, which lies within the bytes, and how large offsets in it are.
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

extension ElfFile {
    fileprivate enum SectionBytes {
        case plain(UnsafeRawBufferPointer)
        case unpacked(UnsafeRawBufferPointer)
    }

    /// A section's bytes, unpacked if they are compressed in either of the two ways.
    fileprivate func debugSection(_ name: String) -> SectionBytes? {
        let old = ".z" + name.dropFirst()
        guard let index = index(ofSection: name) ?? index(ofSection: old),
            !sections[index].isEmptyOnDisk, let section = elf_getscn(handle, index)
        else { return nil }
        let isPacked = sections[index].flags & UInt64(SHF_COMPRESSED) != 0
        let isOld = sections[index].name == old
        guard isPacked || isOld else { return .plain(bytes(ofSection: index)) }
        guard isSane(packed: section, sections[index], isOld: isOld) else { return nil }
        let status = isPacked ? elf_compress(section, 0, 0) : elf_compress_gnu(section, 0, 0)
        // Negative: libdw may have unpacked it already.
        guard status >= 0 || !isPacked, let data = elf_getdata(section, nil),
            let start = data.pointee.d_buf
        else { return nil }
        return .unpacked(UnsafeRawBufferPointer(start: start, count: data.pointee.d_size))
    }

    /// No method of compression that is in use makes text of more than this for each byte.
    private static let mostForAByte: UInt64 = 2048

    /// Whether the size that it says it will have is one that its bytes can hold.
    private func isSane(packed: OpaquePointer, _ section: ElfSection, isOld: Bool) -> Bool {
        let limit = section.size.multipliedReportingOverflow(by: Self.mostForAByte)
        guard !limit.overflow else { return false }
        if isOld { return true }
        var header = GElf_Chdr()
        guard gelf_getchdr(packed, &header) != nil else { return false }
        return header.ch_size <= limit.partialValue
    }
}
