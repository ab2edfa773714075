/// One function at one place in the source: what an address means.
package struct SourceFrame: Hashable, Sendable {
    /// Demangled. nil when the module has no symbol that covers the address.
    package var function: String?
    /// The path that the debug information gives; nil without one.
    package var file: String?
    /// 1-based; nil without line information.
    package var line: Int32?
    /// Whether the compiler inlined this function into the next frame outward.
    package var isInlined: Bool
    /// Whether the debug information says that the compiler did not optimise its unit; false
    /// where it did, or where that is not told.
    package var isUnoptimized: Bool

    package init(
        function: String?, file: String?, line: Int32?, isInlined: Bool,
        isUnoptimized: Bool = false
    ) {
        self.function = function
        self.file = file
        self.line = line
        self.isInlined = isInlined
        self.isUnoptimized = isUnoptimized
    }
}

/// What symbolication knows of a module as a whole.
package struct ModuleSymbols: Hashable, Sendable {
    /// Where DWARF was found (the module itself or a separate debug file); nil without any.
    package var debugInfoPath: String?
    /// Whether a symbol table (`.symtab` or `.dynsym`) was read.
    package var hasSymbols: Bool

    package init(debugInfoPath: String? = nil, hasSymbols: Bool = false) {
        self.debugInfoPath = debugInfoPath
        self.hasSymbols = hasSymbols
    }

    package var hasDebugInfo: Bool { debugInfoPath != nil }
}

/// The answers of symbolication, by frame address.
package struct SymbolTable: Sendable {
    /// Outermost first: the physical function, then what was inlined into it. Never empty.
    package var frames: [FrameAddress: [SourceFrame]] = [:]
    package var modules: [ModuleIndex: ModuleSymbols] = [:]

    package init() {}
}
