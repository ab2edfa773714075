import Glibc
import ProfileModel

/// What lies at a path, and what must be done about it before a recording can be made there.
package enum RecordingFile {
    /// Where an older recording is kept when a new one takes its place.
    package static func olderPath(_ path: String) -> String { path + ".old" }

    /// Whether a recording could be made at `path` now, so that this is known before a program
    /// is started for it: what is there may be replaced, and the folder takes a recording.
    package static func checkWritable(_ path: String) throws(RecordingError) {
        try checkReplaceable(path)
        if try exists(path) { try checkReplaceable(olderPath(path)) }
        guard !path.isEmpty else { throw .cannotCreate(path: path, errno: ENOENT) }
        try tryFolder(of: path)
    }

    /// Makes an empty recording beside `path`, and removes it. Permissions alone do not tell:
    /// `/proc` lets root write and takes no files, a disk may be full, a file's size be limited.
    private static func tryFolder(of path: String) throws(RecordingError) {
        // A limit of file size is an error like any other; for the program it stays what it is.
        let former = signal(SIGXFSZ, SIG_IGN)
        defer { signal(SIGXFSZ, former) }
        let name = String(UInt64.random(in: 0 ... .max), radix: 36)
        let draft = "\(folder(of: path))/.firstlight-\(name)"
        let header = Recording.Header(
            pid: 0, isAttached: false, capture: .signal, frequency: 1)
        do throws(RecordingError) {
            _ = try RecordingWriter(creating: draft, header: header)
        } catch .cannotCreate(_, let errno) {
            throw .cannotCreate(path: path, errno: errno)
        }
        unlink(draft)
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

    /// The same path without links in its folder; nil if there is no such folder.
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
