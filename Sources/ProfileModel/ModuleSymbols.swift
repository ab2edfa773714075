/// The files that symbolication found and used for a module.
package struct ModuleSymbols: Hashable, Sendable {
    /// The file whose DWARF was used: the module itself or another file; nil: none.
    package var debugInfoPath: String?
    /// How that file was found; nil: there is none.
    package var debugInfoOrigin: DebugInfoOrigin?
    /// The best symbol table that was read; nil: none.
    package var symbolOrigin: SymbolOrigin?
    /// Files that were missing, or found but not used. No module has more than ``mostRemarks``.
    package var remarks: [ModuleRemark]

    package init(
        debugInfoPath: String? = nil, debugInfoOrigin: DebugInfoOrigin? = nil,
        symbolOrigin: SymbolOrigin? = nil, remarks: [ModuleRemark] = []
    ) {
        self.debugInfoPath = debugInfoPath
        self.debugInfoOrigin = debugInfoOrigin
        self.symbolOrigin = symbolOrigin
        self.remarks = remarks
    }

    package static let mostRemarks = 8

    package var hasDebugInfo: Bool { debugInfoPath != nil }
    package var hasSymbols: Bool { symbolOrigin != nil }
}

/// How a file with debug information was found. The raw values are stored.
package enum DebugInfoOrigin: String, Sendable, CaseIterable {
    /// It is the module itself.
    case module
    /// In a debug directory, by build id.
    case buildID = "build-id"
    /// By the name in `.gnu_debuglink`.
    case debugLink = "debuglink"
    /// From a server.
    case debuginfod
}

/// Where the names of a module's functions come from. The raw values are stored.
package enum SymbolOrigin: String, Sendable, CaseIterable {
    /// `.symtab`: all functions. For the kernel: `/proc/kallsyms`, or a copy of it.
    case complete = "symtab"
    /// `.gnu_debugdata`: most functions of a stripped module.
    case miniDebugInfo = "minidebuginfo"
    /// `.gopclntab`: all Go functions, even in a stripped program.
    case goTable = "gopclntab"
    /// `.dynsym`: only functions that other modules may use.
    case exported = "dynsym"
    /// `/tmp/perf-PID.map`: functions that a just-in-time compiler listed.
    case perfMap = "perf-map"
}

/// An obstacle that kept symbolication from knowing more about a module.
package struct ModuleRemark: Hashable, Sendable {
    /// The raw values are stored.
    package enum Kind: String, Sendable, CaseIterable {
        /// The module's file could not be read; the detail says why.
        case unreadable
        /// The module's file is not the one that was recorded.
        case otherBuildID = "other-build-id"
        /// The debug file at the path in the detail belongs to another build, and was not used.
        case otherDebugFile = "other-debug-file"
        /// The debug file could not be read; the detail has its path, and why.
        case unreadableDebugFile = "unreadable-debug-file"
        /// `.gnu_debugdata` is invalid, or too large to be unpacked.
        case damagedMiniDebugInfo = "damaged-minidebuginfo"
        /// The common debug file (`dwz`) that the detail names was not found.
        case missingCommonFile = "missing-common-file"
        /// Debug information is in separate `.dwo` files; the detail names one that was not found.
        case missingSplitFile = "missing-split-file"
        /// Debug information is in the package (`.dwp`) at the path in the detail, which cannot be
        /// read.
        case unreadPackage = "unread-package"
    }

    package var kind: Kind
    /// Its meaning depends on the kind; may be empty.
    package var detail: String

    package init(_ kind: Kind, _ detail: String = "") {
        self.kind = kind
        self.detail = detail
    }
}
