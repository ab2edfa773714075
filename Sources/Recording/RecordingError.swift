import Glibc

/// Why a recording or a measurement could not be made or read. `description` is one line for the
/// user: where, what, why, and what to do about it.
package enum RecordingError: Error, Hashable, Sendable {
    /// The file could not be created at `path`; `errno` tells why.
    case cannotCreate(path: String, errno: Int32)
    /// A directory, a device, a pipe …; `kind` comes with its article.
    case notAFile(path: String, kind: String)
    /// The file at `path` is of another kind than the one to be written, and must not be replaced.
    case wouldReplace(path: String, by: FileKind = .recording)
    case cannotOpen(path: String, errno: Int32)
    case cannotRead(path: String, errno: Int32)
    /// The file system has no room left for the recording.
    case full(path: String)
    case cannotWrite(path: String, errno: Int32)
    /// A value that no reader would accept, or a call after the end: a defect of the recorder.
    case refused(path: String, detail: String)
    /// The file is not one of ours.
    case notARecording(path: String, expected: FileKind = .recording)
    /// It is one of our files, but of another kind than expected.
    case otherKind(path: String, found: FileKind)
    /// It is one of our files, of a kind that this version does not know.
    case newerKind(path: String)
    /// A file of length 0: its recorder was killed before the first transaction.
    case empty(path: String)
    case newerSchema(path: String, found: Int32, supported: Int32)
    case damaged(path: String, detail: String)
    /// Its recorder is still running, or another process is changing it.
    case inUse(path: String)
    /// It was moved away while it was written; another file is there now.
    case replaced(path: String)
    /// It was cut short during a write. That can only be undone if the file can be written.
    case needsRollback(path: String)
}

extension RecordingError {
    /// The same error, for a file that has no content worth keeping yet.
    var ofCreation: RecordingError {
        switch self {
        case .full(let path): .cannotCreate(path: path, errno: ENOSPC)
        case .cannotWrite(let path, let errno): .cannotCreate(path: path, errno: errno)
        default: self
        }
    }
}

extension RecordingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cannotCreate(let path, let errno):
            "\(path): cannot create the file: \(reason(errno)); \(remedy(errno))"
        case .notAFile(let path, let kind):
            "\(path): is \(kind), and a recording must be a regular file"
        case .wouldReplace(let path, let kind):
            "\(path): exists and is not a Firstlight \(kind.noun); choose another file with -o"
        case .cannotOpen(let path, let errno):
            "\(path): cannot open: \(reason(errno))"
                + (errno == EMFILE ? "; \(remedy(errno))" : "")
        case .cannotRead(let path, let errno):
            "\(path): cannot read: \(reason(errno))"
        case .full(let path):
            "\(path): no space left for the file; what was written before is kept"
        case .cannotWrite(let path, let errno):
            "\(path): cannot write: \(reason(errno)); what was written before is kept"
                + (errno == EFBIG ? " (raise 'ulimit -f')" : "")
        case .refused(let path, let detail):
            "\(path): cannot record this: \(detail) (a defect of firstlight, please report it)"
        case .notARecording(let path, let kind):
            "\(path): not a Firstlight \(kind.noun)"
        case .otherKind(let path, .measurement):
            """
            \(path): is a measurement, not a recording: it has no stacks; \
            'firstlight report' shows it
            """
        case .otherKind(let path, .recording):
            "\(path): is a recording, not a measurement; 'firstlight report' shows it"
        case .newerKind(let path):
            """
            \(path): was written by a newer version of firstlight, and is of a kind that this one \
            does not know; read it with that version
            """
        case .empty(let path):
            "\(path): is empty; its recorder was stopped before it wrote anything"
        case .newerSchema(let path, let found, let supported):
            """
            \(path): was written by a newer version of firstlight (schema \(found), \
            this one reads up to \(supported)); read it with that version
            """
        case .damaged(let path, let detail):
            "\(path): is damaged: \(detail)"
        case .inUse(let path):
            "\(path): is still being written; try again when its recorder has ended"
        case .replaced(let path):
            """
            \(path): is not the recording that was just made, which was moved (to \(path).old, if \
            another recorder did so); give each a file of its own with -o
            """
        case .needsRollback(let path):
            """
            \(path): was cut short in the middle of a write and cannot be repaired where it is; \
            copy it and \(path)-journal to a place that you can write to
            """
        }
    }
}

/// The system's text for an error number.
private func reason(_ errno: Int32) -> String {
    guard errno != 0, let text = strerror(errno) else { return "input/output error" }
    return String(cString: text)
}

/// The remedy for a file that cannot be created.
private func remedy(_ errno: Int32) -> String {
    switch errno {
    case EFBIG: "raise the limit of file sizes (ulimit -f)"
    case EMFILE: "raise the limit of open files (ulimit -n)"
    default: "choose another file with -o"
    }
}
