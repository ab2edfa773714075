import Glibc
import System

/// Data from standard input, stored in a temporary file: reading a recording jumps between places,
/// which a pipe does not allow.
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
        guard mkdtemp(&template) != nil else {
            throw Self.failure("making a folder for it", Errno(errno))
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // This name appears in messages.
        path = folder + "/standard input"
        do throws(Errno) {
            try Self.copy(from: descriptor, to: path)
        } catch {
            remove()
            throw Self.failure("keeping it", error)
        }
    }

    deinit { remove() }

    private func remove() {
        unlink(path)
        rmdir(folder)
    }

    private static func copy(from source: Int32, to path: String) throws(Errno) {
        let file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try retrying { read(source, &buffer, buffer.count) }
            guard count > 0 else { return }
            try file.write(Array(buffer[..<count]))
        }
    }

    private static func failure(_ step: String, _ error: Errno) -> Failure {
        Failure(message: "standard input: \(step): \(error)")
    }
}
