package import ProfileModel

/// Where separate debug files are looked for.
///
/// The order, as gdb and the distributions have it: `DIR/.build-id/xx/yyyy.debug` by the build
/// id, in each debug directory; then the name that `.gnu_debuglink` gives, beside the module, in
/// `.debug` beside it, and in its folder's image below each debug directory.
package struct DebugFileSearch: Hashable, Sendable {
    /// Absolute paths.
    package var debugDirectories: [String]
    /// Whether files beside the module are looked at, too.
    private var looksBeside: Bool
    /// Where the mapped files of modules are whose paths name other files by now, or none.
    package var standIns: [Module: String] = [:]
    /// Debug files that were fetched from a server.
    package var fetched: [Module: String] = [:]
    /// The root directory that modules' paths begin at, where that is not ours: a container's. It
    /// is looked below first.
    package var root: String?

    package init(debugDirectories: [String] = ["/usr/lib/debug"]) {
        self.debugDirectories = debugDirectories
        looksBeside = true
    }

    private init() {
        debugDirectories = []
        looksBeside = false
    }

    /// No separate files at all.
    package static let none = DebugFileSearch()

    /// The paths of a debug file by build id.
    func candidates(forBuildID buildID: [UInt8]) -> [String] {
        // A shorter one is not an identity; a real one is 20 bytes (8 of Go's and lld's fast).
        guard buildID.count >= 4 else { return [] }
        let folder = buildID[..<1].hex
        let name = "/.build-id/\(folder)/\(buildID[1...].hex).debug"
        return placed(debugDirectories.map { $0 + name })
    }

    /// The paths of the file of this name that belongs to the module at `path`.
    func candidates(forLink name: String, of path: String) -> [String] {
        let folder = Self.folder(of: path)
        let beside = looksBeside ? ["\(folder)/\(name)", "\(folder)/.debug/\(name)"] : []
        return placed(beside + debugDirectories.map { "\($0)\(folder)/\(name)" })
    }

    /// The paths of the common file (`dwz`) that the debug file at `path` names.
    func candidates(forAlternate name: String, buildID: [UInt8], of path: String) -> [String] {
        let named = name.hasPrefix("/") ? name : "\(Self.folder(of: path))/\(name)"
        return candidates(forBuildID: buildID) + placed([named])
    }

    /// Where files of these paths may be: below the root that the paths are of, if it is not
    /// ours, and then where they lead here.
    func placed(_ paths: [String]) -> [String] {
        guard let root else { return paths }
        return paths.map { root + $0 } + paths
    }

    private static func folder(of path: String) -> Substring {
        path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    }
}
