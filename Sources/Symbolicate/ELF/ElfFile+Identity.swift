internal import CElfutils
internal import CLZMA
internal import ProfileModel

/// Where a stripped file says that its debug information is.
struct DebugLink {
    /// The name of a file, without a folder.
    var name: String
    /// CRC-32 of that file.
    var checksum: UInt32
}

/// Which build an executable is.
package enum BuildID {
    /// Its GNU build id in hexadecimal; nil: it has none, or cannot be read. What is no regular file is
    /// not opened.
    package static func ofFile(_ path: String) -> String? {
        guard let file = try? ElfFile(path: path) else { return nil }
        let bytes = file.buildID
        return bytes.isEmpty || file.wasCutShort ? nil : bytes.hex
    }
}

extension ElfFile {
    /// The GNU build id; empty when there is none.
    var buildID: [UInt8] {
        var start: UnsafeRawPointer?
        let length = dwelf_elf_gnu_build_id(handle, &start)
        guard length > 0, let start else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: length))
    }

    /// `.gnu_debuglink`; nil when there is none, or when it names something else than a file in
    /// a folder (it could lead anywhere).
    var debugLink: DebugLink? {
        var checksum: GElf_Word = 0
        guard let name = dwelf_elf_gnu_debuglink(handle, &checksum) else { return nil }
        let text = String(cString: name)
        guard !text.isEmpty, text != "..", text != ".", !text.contains("/") else { return nil }
        return DebugLink(name: text, checksum: checksum)
    }

    /// The CRC-32 of the whole file, as a `.gnu_debuglink` has it.
    var checksum: UInt32 {
        let contents = contents
        let start = contents.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return lzma_crc32(start, contents.count, 0)
    }

    /// `.gnu_debugaltlink`: the name and build id of the file into which `dwz` moved what several
    /// files have in common; nil when there is none.
    var alternateLink: (name: String, buildID: [UInt8])? {
        guard let index = index(ofSection: ".gnu_debugaltlink") else { return nil }
        let bytes = bytes(ofSection: index)
        guard let name = bytes.text(at: 0), !name.isEmpty else { return nil }
        let buildID = Array(bytes[min(name.count + 1, bytes.count)...])
        return buildID.isEmpty ? nil : (String(decoding: name, as: UTF8.self), buildID)
    }

    var hasDebugInfo: Bool {
        hasContents(ofSection: ".debug_info") || hasContents(ofSection: ".zdebug_info")
    }

    var hasSymbolTable: Bool {
        sections.contains { $0.type == UInt32(SHT_SYMTAB) && !$0.isEmptyOnDisk }
    }
}
