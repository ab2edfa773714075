import Glibc
import System

/// Small files, read as a whole: those of /proc and /sys, and files of the user.
enum FileText {
    /// The bytes of a file; nil: it cannot be read, or is longer than `limit`.
    static func bytes(of path: String, limit: Int = 1 << 22) -> [UInt8]? {
        // The user may name a pipe, so this waits for its writer.
        try? WholeFile.bytes(of: path, limit: limit, O_RDONLY)
    }

    /// As ``bytes(of:limit:)``, as text. Invalid UTF-8 is replaced; the kernel's files have none.
    static func text(of path: String) -> String? {
        bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a word to a kernel file. Returns 0 or an `errno`.
    static func write(_ text: String, to path: String) -> Int32 {
        do throws(Errno) {
            try Descriptor(path, O_WRONLY).write(Array(text.utf8))
            return 0
        } catch {
            return error.number
        }
    }

    /// The path with symbolic links resolved; nil: there is no such file.
    static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}

/// Makes a pipe that programs which we start do not inherit. Returns 0 or an `errno`.
func makePipe(_ ends: inout [Int32]) -> Int32 {
    ends = [-1, -1]
    guard pipe(&ends) == 0 else { return errno }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return 0
}
