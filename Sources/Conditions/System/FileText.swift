import Glibc
import System

/// Small files, as a whole: those of /proc and /sys, and what a user wrote.
enum FileText {
    /// The bytes of a file; nil: it cannot be read, or is longer than `limit`.
    static func bytes(of path: String, limit: Int = 1 << 22) -> [UInt8]? {
        // A user may name a pipe, whose writer is waited for.
        try? WholeFile.bytes(of: path, limit: limit, O_RDONLY)
    }

    /// The same as text. What is no UTF-8 is replaced: nothing of the kernel's own is.
    static func text(of path: String) -> String? {
        bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a word to a file of the kernel's. 0 or `errno`.
    static func write(_ text: String, to path: String) -> Int32 {
        do throws(Errno) {
            try Descriptor(path, O_WRONLY).write(Array(text.utf8))
            return 0
        } catch {
            return error.number
        }
    }

    /// The path without symbolic links; nil: there is nothing.
    static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
