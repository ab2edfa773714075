package import ProfileModel

/// Where to look for separate debug files.
///
/// The order is that of gdb and the distributions. First `DIR/.build-id/xx/yyyy.debug` by the build
/// id, in each debug directory. Then the name that `.gnu_debuglink` gives: next to the module, in
/// `.debug` next to it, and below each debug directory under the module's folder.
package struct DebugFileSearch: Hashable, Sendable {
    /// Absolute paths.
    package var debugDirectories: [String]
    /// True if files next to the module count, too.
    private var looksBeside: Bool
    /// For modules whose path now leads to another file or to none: the path of the mapped file.
    package var standIns: [Module: String] = [:]
    /// Debug files that were fetched from a server.
    package var fetched: [Module: String] = [:]
    /// The root directory of the modules' paths, if it is not ours: a container's. It is searched
    /// first.
    package var root: String?
    /// The root directories of other processes. Only files that a build id or a checksum verifies
    /// are searched for there.
    package var otherRoots: [String] = []

    package init(debugDirectories: [String] = ["/usr/lib/debug"]) {
        self.debugDirectories = debugDirectories
        looksBeside = true
    }

    private init() {
        debugDirectories = []
        looksBeside = false
    }

    /// A search that finds no separate files.
    package static let none = DebugFileSearch()

    /// The paths of a debug file by build id.
    func candidates(forBuildID buildID: [UInt8]) -> [String] {
        // A shorter id identifies nothing. A real one has 20 bytes (8 with Go's and lld's fast).
        guard buildID.count >= 4 else { return [] }
        let folder = buildID[..<1].hex
        let name = "/.build-id/\(folder)/\(buildID[1...].hex).debug"
        return verifiable(debugDirectories.map { $0 + name })
    }

    /// The possible paths of the file with this name that belongs to the module at `path`.
    func candidates(forLink name: String, of path: String) -> [String] {
        let folder = Self.folder(of: path)
        let beside = looksBeside ? ["\(folder)/\(name)", "\(folder)/.debug/\(name)"] : []
        return verifiable(beside + debugDirectories.map { "\($0)\(folder)/\(name)" })
    }

    /// The possible paths of the common file (`dwz`) that the debug file at `path` names.
    func candidates(forAlternate name: String, buildID: [UInt8], of path: String) -> [String] {
        let named = name.hasPrefix("/") ? name : "\(Self.folder(of: path))/\(name)"
        return candidates(forBuildID: buildID) + verifiable([named])
    }

    /// Where files with these paths may be: first below their root, if it is not ours, and then at
    /// the paths themselves.
    func placed(_ paths: [String]) -> [String] {
        guard let root else { return paths }
        return paths.map { root + $0 } + paths
    }

    private func verifiable(_ paths: [String]) -> [String] {
        placed(paths) + otherRoots.flatMap { root in paths.map { root + $0 } }
    }

    private static func folder(of path: String) -> Substring {
        path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    }
}
