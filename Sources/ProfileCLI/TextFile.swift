import CSystem
import Glibc

/// A small file of text that belongs to the user.
enum TextFile {
    /// Why it could not be read or written; one line.
    struct Failure: Error {
        var message: String
        var isMissing: Bool

        init(_ path: String, _ what: String, _ number: Int32) {
            message = "\(path): cannot \(what): \(String(cString: strerror(number)))"
            isMissing = number == ENOENT
        }
    }

    private static let most = 16 << 20

    static func read(_ path: String) throws(Failure) -> String {
        let file = fl_open_regular(path, 0)
        guard file >= 0 else {
            // Its own number for what is no regular file says nothing to people.
            throw Failure(path, "open", file == -EMEDIUMTYPE ? EINVAL : -file)
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        while true {
            var problem: Int32 = 0
            // Unsafe code: read(2) fills the array's memory.
            let part = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                let got = Glibc.read(file, buffer.baseAddress, buffer.count)
                if got < 0 { problem = errno }
                count = max(got, 0)
            }
            guard problem == 0 || problem == EINTR else { throw Failure(path, "read", problem) }
            bytes += part
            guard bytes.count <= most else { throw Failure(path, "read", EFBIG) }
            if part.isEmpty, problem == 0 { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Adds lines to its end, and makes it where there is none. What is there is not touched.
    static func append(_ text: String, to path: String) throws(Failure) {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let file = open(path, flags, 0o666)
        guard file >= 0 else { throw Failure(path, "open", errno) }
        var problem: Int32 = 0
        do {
            try Console(output: file).write(text)
        } catch {
            problem = error.errno
        }
        if close(file) != 0, problem == 0 { problem = errno }
        if problem != 0 { throw Failure(path, "write", problem) }
    }
}
