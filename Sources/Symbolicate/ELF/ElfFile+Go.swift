internal import GoTables

extension ElfFile {
    /// Go's table of functions; nil: it is none of Go's, or not of a version that is known. Valid while the
    /// file lives.
    var goFunctions: GoFunctionTable? {
        guard GoFunctionTable.signs.contains(where: { index(ofSection: $0) != nil }) else {
            return nil
        }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        let relocations =
            GoFunctionTable.relocationSections.lazy.compactMap { self.index(ofSection: $0) }
            .first.map { self.bytes(ofSection: $0) } ?? none
        for name in GoFunctionTable.sections {
            guard let section = index(ofSection: name) else { continue }
            let table = GoFunctionTable.find(
                in: bytes(ofSection: section), at: sections[section].address,
                relocations: relocations)
            if table != nil || GoFunctionTable.ownSections.contains(name) { return table }
        }
        return nil
    }
}
