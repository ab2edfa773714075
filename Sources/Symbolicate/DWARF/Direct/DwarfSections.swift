internal import CElfutils
internal import ELF

// Raw memory: sections are read where the file is mapped, or where libelf unpacked them. They do
// not change while the `ELFFile` lives.

/// The DWARF sections that we read: of a file, or of one unit's part of a package.
struct DwarfSections {
    var info = Self.nothing
    var abbreviations = Self.nothing
    var lines = Self.nothing
    var strings = Self.nothing
    var lineStrings = Self.nothing
    var stringOffsets = Self.nothing
    var addresses = Self.nothing
    var ranges = Self.nothing
    var rangeLists = Self.nothing

    static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    init(_ file: inout SectionReader) {
        info = file.bytes(".debug_info")
        guard !info.isEmpty else { return }
        abbreviations = file.bytes(".debug_abbrev")
        lines = file.bytes(".debug_line")
        strings = file.bytes(".debug_str")
        lineStrings = file.bytes(".debug_line_str")
        stringOffsets = file.bytes(".debug_str_offsets")
        addresses = file.bytes(".debug_addr")
        ranges = file.bytes(".debug_ranges")
        rangeLists = file.bytes(".debug_rnglists")
    }

    /// The sections of a `.dwo` file or a package. Line tables, addresses and DWARF 4's ranges stay
    /// in the program.
    init(splitOff file: inout SectionReader) {
        info = file.bytes(".debug_info.dwo")
        guard !info.isEmpty else { return }
        abbreviations = file.bytes(".debug_abbrev.dwo")
        strings = file.bytes(".debug_str.dwo")
        stringOffsets = file.bytes(".debug_str_offsets.dwo")
        rangeLists = file.bytes(".debug_rnglists.dwo")
    }
}

/// Finds a file's sections by name, unpacked if they are compressed.
struct SectionReader {
    private let file: ELFFile
    private let known: UnpackedSections?
    /// Those that had to be unpacked: valid while the file is open.
    private(set) var unpacked: [(name: String, bytes: UnsafeRawBufferPointer)] = []

    /// - Parameter known: sections of the same file that were unpacked before.
    init(_ file: ELFFile, known: UnpackedSections? = nil) {
        self.file = file
        self.known = known
    }

    /// Empty if there is no such section, or it cannot be unpacked.
    mutating func bytes(_ name: String) -> UnsafeRawBufferPointer {
        if let known = known?[name] { return known }
        switch file.debugSection(name) {
        case .plain(let bytes): return bytes
        case .unpacked(let bytes):
            unpacked.append((name, bytes))
            return bytes
        case nil: return DwarfSections.nothing
        }
    }
}

extension ELFFile {
    fileprivate enum SectionBytes {
        case plain(UnsafeRawBufferPointer)
        case unpacked(UnsafeRawBufferPointer)
    }

    /// A section's bytes, unpacked if they are compressed in one of the two ways.
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

    /// No compression method in use expands a byte to more text than this.
    private static let mostForAByte: UInt64 = 2048

    /// True if the announced size is possible for the section's packed bytes.
    private func isSane(packed: OpaquePointer, _ section: ELFSection, isOld: Bool) -> Bool {
        let limit = section.size.multipliedReportingOverflow(by: Self.mostForAByte)
        guard !limit.overflow else { return false }
        if isOld { return true }
        var header = GElf_Chdr()
        guard gelf_getchdr(packed, &header) != nil else { return false }
        return header.ch_size <= limit.partialValue
    }
}
