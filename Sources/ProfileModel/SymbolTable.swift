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
    /// The name by which the linker knows the function, where that is another than `function`;
    /// nil where it is the same or not known.
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
    /// Outermost first: the physical function, then what was inlined into it. Never empty.
    package var frames: [FrameAddress: [SourceFrame]] = [:]
    package var modules: [ModuleIndex: ModuleSymbols] = [:]

    package init() {}
}
