import Glibc
import ProfileModel

/// Copies of a launch's files, mounted over the originals in a mount namespace. No other process
/// has mapped these inodes, so even libc's copy can leave the page cache, without root.
///
/// Differences for the program: it runs in a mount namespace, and for ordinary users also in a user
/// namespace (``Namespaces``). The copies belong to its user, without set-user-ID and capabilities.
package struct PrivateCopies {
    private static let condition = "private copies of the program's files"
    private let folder: TemporaryFolder
    /// Each original with its copy; the program is first.
    let pairs: [(original: String, copy: String)]

    /// Copies the files that are on a disk.
    ///
    /// - Parameters:
    ///   - paths: the program first.
    ///   - parent: a folder on a disk with enough room.
    package init(of paths: [String], in parent: String = "/var/tmp") throws(ConditionError) {
        folder = try TemporaryFolder(
            in: parent, prefix: "firstlight-cold", condition: Self.condition)
        var pairs: [(original: String, copy: String)] = []
        for path in paths {
            guard let real = FileText.real(path), Self.isOnDisk(real) else { continue }
            let copy = "\(folder.path)/\(pairs.count)"
            try Self.copy(real, to: copy, in: parent)
            pairs.append((real, copy))
        }
        self.pairs = pairs
    }

    private static func isOnDisk(_ path: String) -> Bool {
        guard let file = try? CachedFile(path: path) else { return false }
        return file.kind.isProvable
    }

    private static func copy(
        _ path: String, to copy: String, in parent: String
    ) throws(ConditionError) {
        let command = Command(
            words: ["cp", "--preserve=mode,timestamps", "--", path, copy],
            limit: .milliseconds(600_000))
        let result = command.run()
        guard result.hasSucceeded else {
            let reason = result.output.split(separator: "\n").last.map(String.init)
            throw .unsupported(
                condition: condition, missing: reason ?? "'cp \(path)' failed",
                remedy: "make room in \(parent), or use --cold without them")
        }
    }

    /// The files to remove from the page cache before each launch.
    package var copies: [String] { pairs.map(\.copy) }
}
