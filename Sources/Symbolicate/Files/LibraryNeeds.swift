internal import CElfutils
internal import ELF

/// A file's list of the libraries that it needs.
package struct LibraryNeeds: Hashable, Sendable {
    /// The names that the linker looks for.
    package var names: [String] = []
    /// The folders to search first; `$ORIGIN` is the file's own folder.
    package var folders: [String] = []
    /// The dynamic linker.
    package var interpreter: String?

    package init() {}
}

// Raw memory: the dynamic section is read where the file is mapped.

extension ELFFile {
    var needs: LibraryNeeds {
        var needs = LibraryNeeds()
        needs.interpreter = interpreter
        guard let index = sections.firstIndex(where: { $0.type == UInt32(SHT_DYNAMIC) })
        else { return needs }
        let entries = bytes(ofSection: index)
        let names = bytes(ofSection: Int(sections[index].link))
        for offset in stride(from: 0, to: entries.count - 15, by: 16) {
            guard let tag = entries.number(Int64.self, at: offset), tag != DT_NULL,
                needs.names.count < Self.mostNeeds,
                let value = entries.number(UInt64.self, at: offset + 8)
            else { break }
            guard [DT_NEEDED, DT_RPATH, DT_RUNPATH].contains(Int32(truncatingIfNeeded: tag)),
                let name = names.text(at: Int(clamping: value))
            else { continue }
            let text = String(decoding: name, as: UTF8.self)
            if tag == DT_NEEDED {
                needs.names.append(text)
            } else {
                needs.folders += text.split(separator: ":").map(String.init)
            }
        }
        return needs
    }

    private static let mostNeeds = 1024
}
