internal import Architecture
internal import Glibc
package import Symbolicate

/// Where the dynamic linker probably finds a program's libraries. We do not ask the linker, so the
/// result may differ from its own.
package struct LibrarySearch: Sendable {
    /// The folders of `LD_LIBRARY_PATH`.
    private let preferred: [String]
    private let exists: @Sendable (String) -> Bool
    /// Debian's and Fedora's folders.
    private static let usual = [
        "/lib/\(Machine.libraryFolder)", "/usr/lib/\(Machine.libraryFolder)", "/lib64",
        "/usr/lib64", "/lib",
        "/usr/lib", "/usr/local/lib",
    ]

    /// - Parameter preferred: the value of `LD_LIBRARY_PATH`.
    package init(preferred: String, exists: @escaping @Sendable (String) -> Bool) {
        self.preferred = preferred.split { $0 == ":" || $0 == ";" }.map(String.init)
        self.exists = exists
    }

    /// For programs with our environment.
    package init() {
        self.init(
            preferred: getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? "",
            exists: { access($0, R_OK) == 0 })
    }

    /// The files that the one at `path` needs; missing files are left out.
    package func files(for needs: LibraryNeeds, of path: String) -> [String] {
        let origin = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let named = needs.folders.map { Self.replacingOrigin(in: $0, by: origin) }
        let folders = named + preferred + Self.usual
        let libraries = needs.names.compactMap { name in
            name.contains("/")
                ? name : folders.lazy.map { "\($0)/\(name)" }.first(where: exists)
        }
        return libraries + (needs.interpreter.map { [$0] } ?? [])
    }

    private static func replacingOrigin(in folder: String, by origin: String) -> String {
        for word in ["$ORIGIN", "${ORIGIN}"] where folder.hasPrefix(word) {
            return origin + folder.dropFirst(word.count)
        }
        return folder
    }
}
