import Glibc
import ProfileModel
import System

/// Checks what exists at a path, and prepares it for a new recording or measurement.
package enum RecordingFile {
    /// Where an older recording is kept when a new one replaces it.
    package static func olderPath(_ path: String) -> String { path + ".old" }

    /// Checks that a recording could be made at `path` now, before a program is started for it: an
    /// existing file may be replaced, and the folder accepts a recording.
    package static func checkWritable(
        _ path: String, for kind: FileKind = .recording
    ) throws(RecordingError) {
        try checkReplaceable(path, by: kind)
        if try exists(path) { try checkReplaceable(olderPath(path), by: kind) }
        guard !path.isEmpty else { throw .cannotCreate(path: path, errno: ENOENT) }
        try tryFolder(of: path)
    }

    /// Makes an empty recording next to `path`, and removes it. Permissions alone prove nothing:
    /// `/proc` lets root write but accepts no files, a disk may be full, or file sizes limited.
    private static func tryFolder(of path: String) throws(RecordingError) {
        // Reaching a limit of file size is an error like any other; the program keeps its own
        // setting.
        let former = signal(SIGXFSZ, SIG_IGN)
        defer { signal(SIGXFSZ, former) }
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        let draft = "\(folder(of: path))/.firstlight-\(name)"
        let header = Recording.Header(
            pid: 0, isAttached: false, capture: .untraced, frequency: 1)
        do throws(RecordingError) {
            _ = try RecordingWriter(creating: draft, header: header)
        } catch .cannotCreate(_, let errno) {
            throw .cannotCreate(path: path, errno: errno)
        }
        unlink(draft)
    }

    /// Makes room for a new recording. One at `path` becomes `path`.old, with the journal that a
    /// killed recorder left; an earlier `path`.old is deleted. Only files of the same kind, and
    /// empty ones, are ever moved or replaced.
    package static func keepOlder(
        at path: String, for kind: FileKind = .recording
    ) throws(RecordingError) {
        guard try exists(path) else { return }
        let older = olderPath(path)
        try checkReplaceable(path, by: kind)
        try checkReplaceable(older, by: kind)
        try rename(path, to: older)
        // A journal is valid only for the file that it was written for.
        if try exists(journalPath(path)) {
            try rename(journalPath(path), to: journalPath(older))
        } else {
            unlink(journalPath(older))
        }
    }

    static func journalPath(_ path: String) -> String { path + "-journal" }

    /// For a recorder with `--last`: the path of the part before the current one.
    package static func earlierPath(_ path: String) -> String { path + ".before" }

    /// Where both parts are joined.
    package static func joinedPath(_ path: String) -> String { path + ".joined" }

    /// Throws if a file that is not a recording is at either path.
    package static func checkParts(_ path: String) throws(RecordingError) {
        try checkReplaceable(earlierPath(path), by: .recording)
        try checkReplaceable(joinedPath(path), by: .recording)
    }

    /// Removes the recording, if there is one; anything else stays, and is an error.
    package static func remove(_ path: String) throws(RecordingError) {
        guard try exists(path) else { return }
        try checkReplaceable(path, by: .recording)
        unlink(path)
        unlink(journalPath(path))
    }

    /// Replaces any file at `new`.
    package static func rename(_ old: String, to new: String) throws(RecordingError) {
        guard Glibc.rename(old, new) == 0 else { throw .cannotCreate(path: new, errno: errno) }
    }

    /// The same path with the links in its folder resolved; nil if there is no such folder.
    static func placed(_ path: String) -> String? {
        let folder = realpath(folder(of: path), nil)
        defer { free(folder) }
        guard let folder, let name = path.split(separator: "/").last else { return nil }
        return "\(String(cString: folder))/\(name)"
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let folder = path[..<slash]
        return folder.isEmpty ? "/" : String(folder)
    }

    /// True if anything is at `path`; a symbolic link counts wherever it leads.
    private static func exists(_ path: String) throws(RecordingError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        guard errno == ENOENT else { throw .cannotCreate(path: path, errno: errno) }
        return false
    }

    /// Throws unless `path` is free, an empty file or of this kind.
    private static func checkReplaceable(
        _ path: String, by kind: FileKind
    ) throws(RecordingError) {
        guard try exists(path) else { return }
        guard !isBeingWritten(path) else { throw .inUse(path: path) }
        let start: FileStart
        do {
            start = try FileStart(of: path, expecting: kind)
        } catch .notARecording {
            throw .wouldReplace(path: path, by: kind)
        } catch .empty {
            return
        }
        guard start.isOurs, (try? start.kind(path)) == kind else {
            throw .wouldReplace(path: path, by: kind)
        }
    }

    /// True if another process holds SQLite's write lock, as a recorder always does.
    private static func isBeingWritten(_ path: String) -> Bool {
        var status = stat()
        // Opening a pipe or a device may have effects.
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        guard let file = try? Descriptor(path, WholeFile.unwaiting | O_NOFOLLOW) else {
            return false
        }
        // PENDING_BYTE and the bytes behind it (sqlite.org/src, os.h): readers lock part of this
        // for reading.
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        guard fcntl(file.number, F_GETLK, &lock) == 0 else { return false }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// Identifies a file, even after a move.
    package struct Identity: Hashable, Sendable {
        let device: UInt
        let inode: UInt

        /// nil: there is no such file.
        package init?(of path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            self.init(status)
        }

        /// Of an open file.
        init?(descriptor: Int32) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            self.init(status)
        }

        private init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }
    }

    /// Throws if another recording has replaced the file, or the file is gone.
    package static func check(
        _ path: String, is identity: Identity?
    ) throws(RecordingError) {
        guard identity == nil || Identity(of: path) == identity else {
            throw .replaced(path: path)
        }
    }
}
