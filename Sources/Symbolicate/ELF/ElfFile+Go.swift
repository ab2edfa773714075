internal import GoTables

extension ElfFile {
    /// Go's table of functions; nil: it is none of Go's, or not of a version that is known. Valid while the
    /// file lives.
    var goFunctions: GoFunctionTable? {
        [".gopclntab", ".data.rel.ro.gopclntab"].lazy.compactMap { self.index(ofSection: $0) }.first
            .flatMap { GoFunctionTable(bytes(ofSection: $0)) }
    }
}
