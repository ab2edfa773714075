import Foundation
import Glibc

/// A folder of a test's own, removed in the end with all that is in it.
public final class Scratch: Sendable {
    public let folder: String

    public init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/firstlight-test-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap(mkdtemp).map { String(cString: $0) }
        }
        guard let made else { throw CommandFailure(command: ["mkdtemp"], status: errno) }
        folder = made
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    public func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// The names of the files in the folder, sorted.
    public var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// A new file, in place of the one of that name. Returns its path.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String, mode: UInt32 = 0o755) throws -> String {
        let path = path(name)
        return try ProcessStart.alone {
            unlink(path)
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw CommandFailure(command: ["open", name], status: errno)
            }
            defer { close(descriptor) }
            guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count,
                fchmod(descriptor, mode) == 0
            else { throw CommandFailure(command: ["write", name], status: errno) }
            return path
        }
    }

    /// Copies a file that may then be executed.
    public static func copyItem(atPath original: String, toPath path: String) throws {
        try ProcessStart.alone {
            try FileManager.default.copyItem(atPath: original, toPath: path)
        }
    }

    @discardableResult
    public func write(_ text: String, to name: String, mode: UInt32 = 0o755) throws -> String {
        try write(Array(text.utf8), to: name, mode: mode)
    }

    public func read(_ name: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path(name)) else {
            throw CommandFailure(command: ["read", name], status: ENOENT)
        }
        return Array(data)
    }

    /// Runs a command in the folder, to its end.
    ///
    /// - Parameter output: the file that its standard output goes to.
    public func run(_ command: [String], output: String = "/dev/null") throws {
        let inFolder = ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder] + command
        let child = try spawn(inFolder, input: nil, output: output)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw CommandFailure(command: command, status: status) }
    }

    /// The lines that a command prints.
    public func printed(by command: [String]) throws -> [Substring] {
        let output = try Scratch()
        try run(command, output: output.path("printed"))
        return String(decoding: try output.read("printed"), as: UTF8.self).split(separator: "\n")
    }
}
