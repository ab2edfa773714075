import Foundation
import Glibc

/// A test's own directory, removed afterwards with its contents.
final class Scratch {
    let path: String

    init(in folder: String = "/tmp") throws {
        var name = Array("\(folder)/firstlight-test-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw Command.Failure(description: "no directory") }
        path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    func callAsFunction(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String, mode: mode_t = 0o644) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self(name)))
        chmod(self(name), mode)
    }

    func contents(of name: String) -> String? {
        FileManager.default.contents(atPath: self(name)).map { String(decoding: $0, as: UTF8.self) }
    }

    func has(_ name: String) -> Bool { access(self(name), F_OK) == 0 }

    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// The lines `name number` that a fixture wrote about itself.
    func truth(_ name: String = "truth") throws -> [String: Int64] {
        guard let text = contents(of: name) else {
            throw Command.Failure(description: "the program wrote no truth")
        }
        var truth: [String: Int64] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2 { truth[String(parts[0])] = Int64(parts[1]) }
        }
        return truth
    }
}
