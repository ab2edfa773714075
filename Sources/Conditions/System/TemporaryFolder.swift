import CSystem
import Glibc
import ProfileModel
import System

/// Our folder, which is removed when we end. It is locked while it is in use. If a process was
/// killed, the next process finds its folder unlocked and removes it.
package final class TemporaryFolder: Sendable {
    package let path: String
    private let lock: Int32

    /// `parent/prefix-XXXXXX`, for its owner alone.
    ///
    /// - Parameter condition: the condition that needs the folder, for errors.
    package init(
        in parent: String, prefix: String, condition: String
    ) throws(ConditionError) {
        Self.removeStale(in: parent, prefix: prefix)
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw .failed(
                condition: condition, step: "making a folder in \(parent)", code: errno)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        lock = FolderLock.take(path) ?? -1
    }

    deinit {
        Self.remove(path)
        if lock >= 0 { close(lock) }
    }

    /// Removes a folder with its content on this file system. Links are removed, not followed.
    static func remove(_ folder: String) {
        _ = Command(
            words: ["rm", "-rf", "--one-file-system", "--", folder], limit: .milliseconds(60_000)
        ).run()
    }

    private static func removeStale(in parent: String, prefix: String) {
        for folder in FolderLock.unlocked(in: parent, prefix: prefix) {
            var status = stat()
            guard lstat(folder, &status) == 0, status.st_uid == geteuid(),
                status.st_mode & S_IFMT == S_IFDIR
            else { continue }
            remove(folder)
        }
    }
}

/// Marks a folder as in use, as long as the process lives (flock(2)).
enum FolderLock {
    /// The descriptor that holds the lock; nil: another process has it, or the file system has no
    /// locks.
    static func take(_ folder: String) -> Int32? {
        guard let file = try? Descriptor(folder, O_DIRECTORY | O_NOFOLLOW),
            (try? file.lock(waiting: false)) == true
        else { return nil }
        return file.release()
    }

    /// Folders with that prefix that were left behind. Folders younger than a minute may not be
    /// locked yet.
    static func unlocked(in parent: String, prefix: String) -> [String] {
        guard let folder = opendir(parent) else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(prefix + "-") else { continue }
            let path = "\(parent)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, time(nil) - status.st_ctim.tv_sec > 60,
                let lock = take(path)
            else { continue }
            close(lock)
            found.append(path)
        }
        return found
    }
}
