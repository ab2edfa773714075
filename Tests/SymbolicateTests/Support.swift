import Glibc
import Testing

/// Programs that tests compile their subjects with. Missing ones skip the tests, except in CI.
enum Tools {
    static let isCI = environment("CI") == "true"

    static func has(_ names: String...) -> Bool {
        isCI
            || names.allSatisfy { name in
                let folders = environment("PATH").split(separator: ":")
                return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
            }
    }

    static func environment(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}

struct CommandFailure: Error {
    var command: [String]
    var status: Int32
}

/// Runs a command to its end; its standard output goes to `output` if that is given.
func run(_ command: [String], in folder: String, output: String = "/dev/null") throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let shell = ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder] + command
    var arguments: [UnsafeMutablePointer<CChar>?] = shell.map { strdup($0) }
    arguments.append(nil)
    defer { arguments.forEach { free($0) } }
    var child: pid_t = 0
    let problem = posix_spawnp(&child, "sh", &actions, nil, arguments, environ)
    guard problem == 0 else { throw CommandFailure(command: command, status: problem) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else { throw CommandFailure(command: command, status: status) }
}

/// A folder of its own for one test, removed with the value's owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/symbolicate-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw CommandFailure(command: ["mkdtemp"], status: errno)
        }
        path = String(cString: made)
    }

    deinit {
        try? run(["rm", "-rf", path], in: "/")
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o700)
        defer { close(descriptor) }
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw CommandFailure(command: ["write", name], status: errno)
        }
        return file(name)
    }

    func read(_ name: String) throws -> [UInt8] {
        let descriptor = open(file(name), O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
            throw CommandFailure(command: ["read", name], status: errno)
        }
        return bytes
    }

    /// Compiles a source text and returns the program's path.
    func compile(
        _ source: String, with compiler: String, as name: String, _ options: String...
    ) throws -> String {
        let source = try write(source, to: compiler == "gcc" ? "\(name).c" : "\(name).cpp")
        try run([compiler, source, "-o", name] + options, in: path)
        return file(name)
    }

    /// What a command prints.
    func printed(by command: [String]) throws -> [Substring] {
        try run(command, in: path, output: file("printed"))
        return String(decoding: try read("printed"), as: UTF8.self).split(separator: "\n")
    }

    /// The symbols of a program that have a size, as `nm` sees them.
    func symbols(of program: String) throws -> [String: Range<UInt64>] {
        var result: [String: Range<UInt64>] = [:]
        for line in try printed(by: ["nm", "-S", program]) {
            let words = line.split(separator: " ")
            guard words.count == 4, let start = UInt64(words[0], radix: 16),
                let size = UInt64(words[1], radix: 16)
            else { continue }
            result[String(words[3])] = start..<(start + size)
        }
        return result
    }

    /// The address of a symbol, with or without a size.
    func address(of symbol: String, in program: String) throws -> UInt64? {
        for line in try printed(by: ["nm", program]) where line.hasSuffix(" \(symbol)") {
            return line.split(separator: " ").first.flatMap { UInt64($0, radix: 16) }
        }
        return nil
    }

    func buildID(of program: String) throws -> [UInt8] {
        for line in try printed(by: ["readelf", "-n", program]) where line.contains("Build ID:") {
            let digits = Array(line.split(separator: " ").last ?? "")
            return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
        }
        return []
    }

    /// Where a section is in a file, as `readelf` sees it.
    func section(_ name: String, of file: String) throws -> Range<Int>? {
        for line in try printed(by: ["readelf", "-SW", file]) {
            let words = line.drop { $0 != "]" }.dropFirst().split(separator: " ")
            guard words.count > 4, words[0] == name, let start = Int(words[3], radix: 16),
                let size = Int(words[4], radix: 16)
            else { continue }
            return start..<(start + size)
        }
        return nil
    }
}
