import CSQLite
import Glibc

/// What lies at a path, and what must be done about it before a recording can be made there.
package enum RecordingFile {
    /// Where an older recording is kept when a new one takes its place.
    package static func olderPath(_ path: String) -> String { path + ".old" }

    /// Whether a recording could be made at `path` now, so that this is known before a program
    /// is started for it: the folder can be written, and what is there may be replaced.
    package static func checkWritable(_ path: String) throws(RecordingError) {
        try checkReplaceable(path)
        if try exists(path) { try checkReplaceable(olderPath(path)) }
        let folder = folder(of: path)
        var status = stat()
        guard !path.isEmpty, stat(folder, &status) == 0 else {
            throw .cannotCreate(path: path, errno: path.isEmpty ? ENOENT : errno)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .cannotCreate(path: path, errno: ENOTDIR)
        }
        guard faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .cannotCreate(path: path, errno: errno)
        }
    }

    /// Makes room for a new recording: one that is at `path` becomes `path`.old, with the
    /// journal that a killed recorder left; what was at `path`.old goes. Nothing but recordings
    /// (and empty files) is ever moved or replaced.
    package static func keepOlder(at path: String) throws(RecordingError) {
        guard try exists(path) else { return }
        let older = olderPath(path)
        try checkReplaceable(path)
        try checkReplaceable(older)
        try rename(path, to: older)
        // A journal is only good for the file that it was written for.
        if try exists(journalPath(path)) {
            try rename(journalPath(path), to: journalPath(older))
        } else {
            unlink(journalPath(older))
        }
    }

    static func journalPath(_ path: String) -> String { path + "-journal" }

    private static func rename(_ old: String, to new: String) throws(RecordingError) {
        guard Glibc.rename(old, new) == 0 else { throw .cannotCreate(path: new, errno: errno) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        let folder = path[..<slash]
        return folder.isEmpty ? "/" : String(folder)
    }

    /// Whether there is anything at `path`; a symbolic link counts wherever it leads.
    private static func exists(_ path: String) throws(RecordingError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        guard errno == ENOENT else { throw .cannotCreate(path: path, errno: errno) }
        return false
    }

    /// Throws unless `path` is free, an empty file or a recording.
    private static func checkReplaceable(_ path: String) throws(RecordingError) {
        guard try exists(path) else { return }
        let start: FileStart
        do {
            start = try FileStart(of: path)
        } catch .notARecording {
            throw .wouldReplace(path: path)
        } catch .empty {
            return
        }
        guard start.isRecording else { throw .wouldReplace(path: path) }
    }
}
