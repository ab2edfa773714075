import Glibc

/// Data from standard input, kept in a file as long as they are read: reading a recording jumps
/// between places, which a pipe does not allow.
package final class StandardInput {
    /// Why it could not be read or stored; one line.
    package struct Failure: Error {
        package var message: String
    }

    /// The operand for standard input.
    static let name = "-"

    private let folder: String
    package let path: String

    package init(_ descriptor: Int32 = STDIN_FILENO) throws(Failure) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        var template = Array(
            "\(parent.hasPrefix("/") ? parent : "/tmp")/firstlight-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure("making a folder for it") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // This name appears in messages.
        path = folder + "/standard input"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let code = file < 0 ? errno : Self.copy(from: descriptor, to: file)
        if file >= 0 { close(file) }
        guard code == 0 else {
            remove()
            throw Self.failure("keeping it", code)
        }
    }

    deinit { remove() }

    private func remove() {
        unlink(path)
        rmdir(folder)
    }

    /// - Returns: an error number; 0: success.
    private static func copy(from source: Int32, to target: Int32) -> Int32 {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(source, &buffer, buffer.count)
            if count == 0 { return 0 }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            do {
                try Console(output: target).write(Array(buffer.prefix(count)))
            } catch {
                return error.errno
            }
        }
    }

    private static func failure(_ step: String, _ code: Int32 = errno) -> Failure {
        Failure(message: "standard input: \(step): \(String(cString: strerror(code)))")
    }
}
