internal import CElfutils
internal import CLZMA
internal import ELF

/// Where a stripped file says that its debug information is.
struct DebugLink {
    /// The name of a file, without a folder.
    var name: String
    /// The CRC-32 of that file.
    var checksum: UInt32
}

extension ELFFile {
    /// `.gnu_debuglink`; nil if there is none, or if it has a folder in its name (it could lead
    /// anywhere).
    var debugLink: DebugLink? {
        var checksum: GElf_Word = 0
        guard let name = dwelf_elf_gnu_debuglink(handle, &checksum) else { return nil }
        let text = String(cString: name)
        guard !text.isEmpty, text != "..", text != ".", !text.contains("/") else { return nil }
        return DebugLink(name: text, checksum: checksum)
    }

    /// The CRC-32 of the whole file, for comparison with a `.gnu_debuglink`.
    var checksum: UInt32 {
        let contents = contents
        let start = contents.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return lzma_crc32(start, contents.count, 0)
    }

    /// `.gnu_debugaltlink`: the name and build id of the common file into which `dwz` moved parts
    /// of several files; nil if there is none.
    var alternateLink: (name: String, buildID: [UInt8])? {
        guard let index = index(ofSection: ".gnu_debugaltlink") else { return nil }
        let bytes = bytes(ofSection: index)
        guard let name = bytes.text(at: 0), !name.isEmpty else { return nil }
        let buildID = Array(bytes[min(name.count + 1, bytes.count)...])
        return buildID.isEmpty ? nil : (String(decoding: name, as: UTF8.self), buildID)
    }

    /// True if the file itself contains data for a section with this name.
    func hasContents(ofSection name: String) -> Bool {
        sections.contains { $0.name == name && !$0.isEmptyOnDisk }
    }

    var hasDebugInfo: Bool {
        hasContents(ofSection: ".debug_info") || hasContents(ofSection: ".zdebug_info")
    }

    var hasSymbolTable: Bool {
        sections.contains { $0.type == UInt32(SHT_SYMTAB) && !$0.isEmptyOnDisk }
    }
}
