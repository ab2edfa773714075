import Glibc

/// Small files, as a whole: those of /proc and /sys, and what a user wrote.
enum FileText {
    /// The bytes of a file; nil: it cannot be read, or is longer than `limit`.
    static func bytes(of path: String, limit: Int = 1 << 22) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &part, part.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0, all.count + count <= limit else { return nil }
            guard count > 0 else { return all }
            all += part[..<count]
        }
    }

    /// The same as text. What is no UTF-8 is replaced: nothing of the kernel's own is.
    static func text(of path: String) -> String? {
        bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a word to a file of the kernel's. 0 or `errno`.
    static func write(_ text: String, to path: String) -> Int32 {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        let bytes = Array(text.utf8)
        return Glibc.write(file, bytes, bytes.count) == bytes.count ? 0 : errno
    }

    /// The path without symbolic links; nil: there is nothing.
    static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}
