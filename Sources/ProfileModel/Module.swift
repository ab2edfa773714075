/// A file (or the vdso) whose code was mapped into the profiled process.
package struct Module: Hashable, Sendable {
    /// The path as the process's mappings name it (`[vdso]` for the kernel's).
    package var path: String
    /// The GNU build id, empty when the file has none or could not be read.
    package var buildID: [UInt8]

    package init(path: String, buildID: [UInt8] = []) {
        self.path = path
        self.buildID = buildID
    }

    /// The last component of the path.
    package var name: Substring {
        path.split(separator: "/").last ?? Substring(path)
    }

    /// Whether this is the developer's own code: the path is not one of the system's.
    /// `/usr/local` and `/usr/src` count as own: what lies there was built on this machine.
    package var isOwn: Bool {
        guard path.hasPrefix("/"), !isInterpreters else { return false }
        if path.hasPrefix("/usr/local/") || path.hasPrefix("/usr/src/") { return true }
        return !Self.systemPrefixes.contains { path.hasPrefix($0) }
    }

    /// Whether memory of that name holds code that no file has: a just-in-time compiler made it.
    package static func isGenerated(_ path: String) -> Bool {
        path.isEmpty
            || ["[anon:", "//anon", "/memfd:", "/dev/zero"].contains { path.hasPrefix($0) }
    }

    /// The path of functions that an interpreter runs, which have no addresses: frames count them.
    ///
    /// - Parameter name: of the language, and which version of it, as people write them.
    package static func runtimePath(_ name: String) -> String { "\(runtimePrefix)\(name)]" }
    private static let runtimePrefix = "[runtime:"

    /// The path of functions that Node runs.
    package static let nodePath = runtimePath("Node")

    /// Whether a path stands for such functions.
    package static func isRuntime(_ path: String) -> Bool { path.hasPrefix(runtimePrefix) }

    /// The language and its version in such a path; nil for all else.
    package static func runtimeName(_ path: String) -> Substring? {
        guard isRuntime(path), path.hasSuffix("]") else { return nil }
        return path.dropFirst(runtimePrefix.count).dropLast()
    }

    /// The path of the kernel's own code. Its addresses count from its symbol `_text`, which lies
    /// elsewhere after each boot.
    package static let kernelPath = "[kernel]"
    private static let kernelModulePrefix = "[kernel:"

    /// The path of a loadable module of the kernel's. Its addresses count from its first byte.
    package static func kernelPath(ofModule name: some StringProtocol) -> String {
        "\(kernelModulePrefix)\(name)]"
    }

    /// Whether a path stands for the kernel's own code or that of one of its modules.
    package static func isKernel(_ path: String) -> Bool {
        path == kernelPath || path.hasPrefix(kernelModulePrefix)
    }

    /// The name of a loadable module of the kernel's; nil for all else.
    package var kernelModuleName: Substring? {
        guard path.hasPrefix(Self.kernelModulePrefix), path.hasSuffix("]") else { return nil }
        return path.dropFirst(Self.kernelModulePrefix.count).dropLast()
    }

    private static let systemPrefixes = [
        "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/", "/nix/store/",
        "/gnu/store/", "/snap/", "/dev/", "/memfd:",
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

/// A range of a process's addresses that was backed by a module's code, and since when.
package struct Mapping: Hashable, Sendable {
    package var start: UInt64
    package var end: UInt64
    /// What to subtract from an address of the process to get the module's own (ELF) address.
    package var bias: UInt64
    package var module: ModuleIndex
    /// When the mapping was first seen.
    package var time: MonotonicTime
    /// In which child; nil: in the recorded process.
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
