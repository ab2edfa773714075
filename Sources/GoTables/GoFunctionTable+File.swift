package import ELF

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
