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
