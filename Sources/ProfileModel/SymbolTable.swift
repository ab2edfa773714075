/// The meaning of an address: one function at one place in the source.
package struct SourceFrame: Hashable, Sendable {
    /// Demangled. nil if no symbol of the module covers the address.
    package var function: String?
    /// The path in the debug information; nil if there is none.
    package var file: String?
    /// 1-based; nil if there is no line information.
    package var line: Int32?
    /// True if the compiler inlined this function into the next frame outward.
    package var isInlined: Bool
    /// True if the debug information says that the compiler did not optimise its unit; false if it
    /// did, or if this is unknown.
    package var isUnoptimized: Bool
    /// The linker's name for the function, if it differs from `function`; nil if it is the same or
    /// unknown.
    package var linkageName: String?

    package init(
        function: String?, file: String?, line: Int32?, isInlined: Bool,
        isUnoptimized: Bool = false, linkageName: String? = nil
    ) {
        self.function = function
        self.file = file
        self.line = line
        self.isInlined = isInlined
        self.isUnoptimized = isUnoptimized
        self.linkageName = linkageName
    }
}

/// The answers of symbolication, by frame address.
package struct SymbolTable: Sendable {
    /// Outermost first: the physical function, then the functions inlined into it. Never empty.
    package var frames: [FrameAddress: [SourceFrame]] = [:]
    package var modules: [ModuleIndex: ModuleSymbols] = [:]

    package init() {}
}
