/// A file (or the vdso) whose code was mapped into the profiled process.
package struct Module: Hashable, Sendable {
    /// The path in the process's mappings (`[vdso]` for the kernel's).
    package var path: String
    /// The GNU build id; empty if the file has none or could not be read.
    package var buildID: [UInt8]

    package init(path: String, buildID: [UInt8] = []) {
        self.path = path
        self.buildID = buildID
    }

    /// The last component of the path.
    package var name: Substring {
        path.split(separator: "/").last ?? Substring(path)
    }

    /// True if this is the developer's own code: its path is not one of the system's. `/usr/local`
    /// and `/usr/src` count as own: their content was built on this machine.
    package var isOwn: Bool {
        guard path.hasPrefix("/"), !isInterpreters, !isGenerated else { return false }
        if path.hasPrefix("/usr/local/") || path.hasPrefix("/usr/src/") { return true }
        return !Self.systemPrefixes.contains { path.hasPrefix($0) }
    }

    /// True if it is code without a file, made by a just-in-time compiler. The recorder decides
    /// this by the content of the memory, and stores it as the path: see ``generatedPath(_:)``.
    /// (Perf names memory `//anon`.)
    package var isGenerated: Bool {
        path.isEmpty || path.hasPrefix(Self.generatedPrefix) || path.hasPrefix("//anon")
    }

    /// The path for memory with this name that holds neither a program nor a library.
    package static func generatedPath(_ name: String) -> String {
        if name.isEmpty || name == "//anon" { return "\(generatedPrefix)code]" }
        guard name.hasPrefix("/") else { return name }
        let deleted = " (deleted)"
        let end = name.hasSuffix(deleted) ? deleted.count : 0
        return "\(generatedPrefix)\(name.dropFirst().dropLast(end))]"
    }
    private static let generatedPrefix = "[anon:"

    /// The path for functions that an interpreter runs. They have no addresses; their frames have
    /// numbers instead.
    ///
    /// - Parameter name: the language and its version, in the usual spelling.
    package static func runtimePath(_ name: String) -> String { "\(runtimePrefix)\(name)]" }
    private static let runtimePrefix = "[runtime:"

    /// The path for functions that Node runs.
    package static let nodePath = runtimePath("Node")

    /// True if the path is that of an interpreter's functions.
    package static func isRuntime(_ path: String) -> Bool { path.hasPrefix(runtimePrefix) }

    /// The language and its version in such a path; nil for any other path.
    package static func runtimeName(_ path: String) -> Substring? {
        guard isRuntime(path), path.hasSuffix("]") else { return nil }
        return path.dropFirst(runtimePrefix.count).dropLast()
    }

    /// The path of the kernel's own code. Its addresses are relative to the symbol `_text`, which
    /// is elsewhere after each boot.
    package static let kernelPath = "[kernel]"
    private static let kernelModulePrefix = "[kernel:"

    /// The path of a loadable kernel module. Its addresses are relative to its first byte.
    package static func kernelPath(ofModule name: some StringProtocol) -> String {
        "\(kernelModulePrefix)\(name)]"
    }

    /// True if the path is that of the kernel's own code or of one of its modules.
    package static func isKernel(_ path: String) -> Bool {
        path == kernelPath || path.hasPrefix(kernelModulePrefix)
    }

    /// The name of a loadable kernel module; nil for any other module.
    package var kernelModuleName: Substring? {
        guard path.hasPrefix(Self.kernelModulePrefix), path.hasSuffix("]") else { return nil }
        return path.dropFirst(Self.kernelModulePrefix.count).dropLast()
    }

    private static let systemPrefixes = [
        "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/", "/nix/store/",
        "/gnu/store/", "/snap/", "/dev/",
    ]
}

/// Position in a recording's list of modules.
package struct ModuleIndex: Hashable, Sendable, Comparable {
    package var rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
    package static func < (left: ModuleIndex, right: ModuleIndex) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A range of a process's addresses that held a module's code, and when it was first seen.
package struct Mapping: Hashable, Sendable {
    package var start: UInt64
    package var end: UInt64
    /// Subtract this from an address in the process to get the module's own (ELF) address.
    package var bias: UInt64
    package var module: ModuleIndex
    /// When the mapping was first seen.
    package var time: MonotonicTime
    /// The child that it belongs to; nil: the recorded process.
    package var child: ChildIndex?

    package init(
        start: UInt64, end: UInt64, bias: UInt64, module: ModuleIndex, time: MonotonicTime,
        child: ChildIndex? = nil
    ) {
        self.child = child
        self.start = start
        self.end = end
        self.bias = bias
        self.module = module
        self.time = time
    }
}
