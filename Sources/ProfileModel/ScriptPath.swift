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
