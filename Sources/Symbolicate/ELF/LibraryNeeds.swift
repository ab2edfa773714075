internal import CElfutils

/// What a file says of the libraries that it needs.
package struct LibraryNeeds: Hashable, Sendable {
    /// As the linker is to look for them.
    package var names: [String] = []
    /// Where, before all other places; `$ORIGIN` is the file's own folder.
    package var folders: [String] = []
    /// The dynamic linker.
    package var interpreter: String?

    package init() {}
}

// Raw memory: the dynamic section is read where the file is mapped.

extension ElfFile {
    var needs: LibraryNeeds {
        var needs = LibraryNeeds()
        if let index = index(ofSection: ".interp") { needs.interpreter = text(in: index, at: 0) }
        guard let index = sections.firstIndex(where: { $0.type == UInt32(SHT_DYNAMIC) })
        else { return needs }
        let entries = bytes(ofSection: index)
        for offset in stride(from: 0, to: entries.count - 15, by: 16) {
            guard let tag = entries.number(Int64.self, at: offset), tag != DT_NULL,
                needs.names.count < Self.mostNeeds,
                let value = entries.number(UInt64.self, at: offset + 8)
            else { break }
            guard [DT_NEEDED, DT_RPATH, DT_RUNPATH].contains(Int32(truncatingIfNeeded: tag)),
                let text = text(in: Int(sections[index].link), at: Int(clamping: value))
            else { continue }
            if tag == DT_NEEDED {
                needs.names.append(text)
            } else {
                needs.folders += text.split(separator: ":").map(String.init)
            }
        }
        return needs
    }

    private static let mostNeeds = 1024

    private func text(in section: Int, at offset: Int) -> String? {
        bytes(ofSection: section).text(at: offset).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What lies at an address once the file is mapped, before anything is relocated: fewer bytes
    /// where the file has no more.
    func mapped(at address: UInt64, count: Int) -> [UInt8] {
        var segments = 0
        guard elf_getphdrnum(handle, &segments) == 0 else { return [] }
        let contents = contents
        for index in 0..<min(segments, Int(UInt16.max)) {
            var segment = GElf_Phdr()
            guard gelf_getphdr(handle, CInt(index), &segment) != nil,
                segment.p_type == UInt32(PT_LOAD), address >= segment.p_vaddr,
                address - segment.p_vaddr < segment.p_filesz
            else { continue }
            let distance = address - segment.p_vaddr
            let (start, overflows) = segment.p_offset.addingReportingOverflow(distance)
            guard !overflows, start < UInt64(contents.count) else { return [] }
            let size = min(
                UInt64(max(count, 0)), segment.p_filesz - distance, UInt64(contents.count) - start)
            return Array(contents[Int(start)..<Int(start + size)])
        }
        return []
    }
}
