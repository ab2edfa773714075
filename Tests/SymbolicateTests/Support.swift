import Glibc
import TestSupport
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

extension Scratch {
    /// Compiles a source text and returns the program's path.
    func compile(
        _ source: String, with compiler: String, as name: String, _ options: String...
    ) throws -> String {
        let isC = ["gcc", "clang"].contains(compiler)
        let source = try write(source, to: isC ? "\(name).c" : "\(name).cpp")
        try run([compiler, source, "-o", name] + options)
        return path(name)
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
