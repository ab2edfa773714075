extension Module {
    /// True if this is an interpreter, or an extension of one that came with it or with a package.
    /// To a developer of scripts this is never own code, wherever a version manager has put it.
    var isInterpreters: Bool {
        let parts = path.split(separator: "/")
        guard let file = parts.last, let folder = parts.dropLast().last else { return false }
        if ["lib", "lib64"].contains(folder), Self.isPythonsLibrary(file) { return true }
        if file.hasSuffix(".so") || file.hasSuffix(".node") { return !ScriptPath(path).isOwn }
        return folder == "bin" && (file == "node" || Self.isPython(file))
    }

    /// `libpython3.11.so.1.0`
    private static func isPythonsLibrary(_ file: Substring) -> Bool {
        let start = "libpython"
        return file.hasPrefix(start) && file.dropFirst(start.count).first?.isNumber == true
            && file.contains(".so")
    }

    /// `python3.13t`
    private static func isPython(_ file: Substring) -> Bool {
        let number = file.hasPrefix("python") ? file.dropFirst(6) : "-"
        return number.allSatisfy { $0.isNumber || $0 == "." || $0 == "t" || $0 == "d" }
    }
}
