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
        let digits = buildID.map(Self.hexadecimal)
        let name = "/.build-id/\(digits[0])/\(digits[1...].joined()).debug"
        return debugDirectories.map { $0 + name }
    }

    /// The paths of the file of this name that belongs to the module at `path`.
    func candidates(forLink name: String, of path: String) -> [String] {
        let folder = Self.folder(of: path)
        let beside = looksBeside ? ["\(folder)/\(name)", "\(folder)/.debug/\(name)"] : []
        return beside + debugDirectories.map { "\($0)\(folder)/\(name)" }
    }

    /// The paths of the common file (`dwz`) that the debug file at `path` names.
    func candidates(forAlternate name: String, buildID: [UInt8], of path: String) -> [String] {
        let named = name.hasPrefix("/") ? name : "\(Self.folder(of: path))/\(name)"
        return candidates(forBuildID: buildID) + [named]
    }

    private static func folder(of path: String) -> Substring {
        path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return byte < 16 ? "0" + digits : digits
    }
}

/// A debug file that was found and belongs to its module.
struct DebugFile {
    var path: String
    var file: ElfFile
}

extension DebugFileSearch {
    /// The first candidate that belongs to the module and has something to offer.
    /// - Parameters:
    ///   - path: the module's.
    ///   - buildID: the recorded one, or the file's where none was recorded; may be empty.
    ///   - link: the module's, if its file could be opened.
    func find(for path: String, buildID: [UInt8], link: DebugLink?) -> DebugFile? {
        for candidate in candidates(forBuildID: buildID) {
            guard let file = Self.open(candidate), file.buildID == buildID else { continue }
            return DebugFile(path: candidate, file: file)
        }
        guard let link else { return nil }
        for candidate in candidates(forLink: link.name, of: path) {
            guard let file = Self.open(candidate),
                Self.agree(file.buildID, buildID),
                Checksum.crc32(file.contents) == link.checksum
            else { continue }
            return DebugFile(path: candidate, file: file)
        }
        return nil
    }

    /// The common file that the debug file at `path` refers to; only one with that build id.
    func findAlternate(_ name: String, buildID: [UInt8], of path: String) -> ElfFile? {
        for candidate in candidates(forAlternate: name, buildID: buildID, of: path) {
            if let file = try? ElfFile(path: candidate), file.buildID == buildID { return file }
        }
        return nil
    }

    /// Most candidates do not exist: why one cannot be opened is of no interest.
    private static func open(_ path: String) -> ElfFile? {
        guard let file = try? ElfFile(path: path), file.hasDebugInfo || file.hasSymbolTable
        else { return nil }
        return file
    }

    private static func agree(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.isEmpty || right.isEmpty || left == right
    }
}
