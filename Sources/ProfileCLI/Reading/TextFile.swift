import Glibc
import System

/// A small text file of the user.
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
        let file: Descriptor
        do throws(Errno) {
            file = try Descriptor(regular: path)
        } catch {
            // EMEDIUMTYPE (not a regular file) has a message that tells people nothing.
            throw Failure(path, "open", error.number == EMEDIUMTYPE ? EINVAL : error.number)
        }
        do throws(Errno) {
            let bytes = try file.bytes(count: most + 1)
            guard bytes.count <= most else { throw Errno(EFBIG) }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw Failure(path, "read", error.number)
        }
    }

    /// Appends lines, and creates the file if it is missing. Existing content is unchanged.
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
