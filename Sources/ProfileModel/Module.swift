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

extension Module {
    /// True if this is an interpreter, an extension that is part of it or of a package, or a
    /// run-time library of a language. To a developer this is never own code, in any folder of a
    /// version manager or a bundle of programs (PyInstaller, Nuitka, AppImages).
    var isInterpreters: Bool {
        let parts = path.split(separator: "/")
        guard let file = parts.last else { return false }
        let folders = parts.dropLast()
        if Self.isRuntimeLibrary(file) || Self.isBundled(file, in: folders) { return true }
        if file.hasSuffix(".so") || file.hasSuffix(".node") { return !ScriptPath(path).isOwn }
        return folders.last == "bin" && (file == "node" || Self.isPython(file))
    }

    /// By the library's own name (soname), which the file has in every place.
    private static func isRuntimeLibrary(_ file: Substring) -> Bool {
        isPythonsLibrary(file) || runtimeLibraries.contains { file.hasPrefix($0) }
    }

    /// Beginnings of names: the C library's and its linker's, compilers', interpreters'.
    private static let runtimeLibraries = [
        "ld-linux", "ld-musl-", "libc.musl-", "libc.so.6", "libm.so.6", "libpthread.so.0",
        "libdl.so.2", "librt.so.1", "libutil.so.1", "libresolv.so.2", "libstdc++.so.6",
        "libgcc_s.so.1", "libc++.so.1", "libc++abi.so.1", "libgomp.so.1", "libatomic.so.1",
        "libjvm.so", "libnode.so.", "libperl.so.5", "libruby.so.", "libruby-",
    ]

    /// `libpython3.11.so.1.0`
    private static func isPythonsLibrary(_ file: Substring) -> Bool {
        let start = "libpython"
        return file.hasPrefix(start) && file.dropFirst(start.count).first?.isNumber == true
            && file.contains(".so")
    }

    /// True for a library or extension that a bundle has copied from the system: a library with a
    /// version in its name, or an extension of Python's own library.
    private static func isBundled(_ file: Substring, in folders: ArraySlice<Substring>) -> Bool {
        if folders.contains("lib-dynload") { return true }
        let isInBundle = folders.contains { $0 == "_internal" || $0.hasPrefix("_MEI") }
        return isInBundle && file.hasPrefix("lib") && file.contains(".so.")
    }

    /// `python3.13t`
    private static func isPython(_ file: Substring) -> Bool {
        let number = file.hasPrefix("python") ? file.dropFirst(6) : "-"
        return number.allSatisfy { $0.isNumber || $0 == "." || $0 == "t" || $0 == "d" }
    }
}

/// The file with the source of a function that an interpreter runs.
package struct ScriptPath: Hashable, Sendable {
    private let path: String
    private let parts: [Substring]

    package init(_ path: String) {
        self.path = path
        parts = path.split(separator: "/")
    }

    /// In place of a file, for a frame that stands for the import of a module.
    package static let ofImports = "<import>"

    /// True if this is the developer's own code: neither the language's library nor an installed
    /// package. Code that was made from text (`<string>`) is own code.
    package var isOwn: Bool {
        if Self.libraryStarts.contains(where: path.hasPrefix) { return false }
        return !parts.dropLast().contains {
            Self.packageFolders.contains($0) || Self.isLibrary($0)
        }
    }

    private static let libraryStarts = [
        "<frozen ", "<__array_function__", ofImports, "node:", "/usr/share/nodejs/",
    ]

    /// True if it belongs to an installed package.
    package var isInstalled: Bool { parts.dropLast().contains(where: Self.packageFolders.contains) }

    private static let packageFolders: Set<Substring> = [
        "site-packages", "dist-packages", "node_modules",
    ]

    /// `python3.11`, below `lib`: the folder of the language's library, also in virtual
    /// environments.
    private static func isLibrary(_ folder: Substring) -> Bool {
        let number = folder.hasPrefix("python") ? folder.dropFirst(6) : "-"
        guard let first = number.first, first.isNumber else { return folder == "python3" }
        return number.allSatisfy { $0.isNumber || $0 == "." || $0 == "t" || $0 == "d" }
    }

    /// The file's name; for a package's first file, with the package's name.
    package var shortName: String {
        guard let last = parts.last, !path.hasSuffix("/"), !path.hasPrefix("node:") else {
            return path
        }
        guard Self.firstFiles.contains(last), parts.count > 1 else {
            return path.hasPrefix("<") ? path : String(last)
        }
        return "\(parts[parts.count - 2])/\(last)"
    }

    private static let firstFiles: Set<Substring> = [
        "__init__.py", "__main__.py", "index.js", "index.mjs", "index.cjs", "index.ts",
    ]
}
