/// A release of CPython.
package struct PythonVersion: Hashable, Sendable, CustomStringConvertible {
    package var major: Int
    package var minor: Int
    /// nil: unknown for 3.10 and older.
    package var micro: Int?

    package init(major: Int, minor: Int, micro: Int?) {
        (self.major, self.minor, self.micro) = (major, minor, micro)
    }

    /// nil: it is not a final release; its memory could have another layout.
    ///
    /// - Parameter number: as in `PY_VERSION_HEX`: one byte for each of the three numbers, four
    ///   bits each for the level and its serial.
    package init?(number: UInt64) {
        guard number <= UInt64(UInt32.max), number & 0xF0 == 0xF0 else { return nil }
        major = Int(number >> 24)
        minor = Int(number >> 16 & 0xFF)
        micro = Int(number >> 8 & 0xFF)
    }

    /// From the name of an interpreter's file: `python3.10`, `libpython3.9.so.1.0`. nil: the name
    /// does not tell, or the build is for debugging or without the global lock (`3.13t`, `3.8d`).
    package init?(path: String) {
        guard let rest = Self.rest(ofName: path), rest.hasPrefix("3.") else { return nil }
        let digits = rest.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
        let suffix = rest.dropFirst(2 + digits.count)
        guard suffix.isEmpty || suffix.hasPrefix(".so"), let minor = Int(digits) else { return nil }
        self.init(major: 3, minor: minor, micro: nil)
    }

    /// The part after `python` in a file's name.
    static func rest(ofName path: String) -> Substring? {
        var name = path[...]
        if name.hasSuffix(Self.removed) { name = name.dropLast(Self.removed.count) }
        if let slash = name.lastIndex(of: "/") { name = name[name.index(after: slash)...] }
        if name.hasPrefix("lib") { name = name.dropFirst(3) }
        return name.hasPrefix("python") ? name.dropFirst(6) : nil
    }

    /// The kernel's mark for files that no longer exist.
    private static var removed: String { " (deleted)" }

    package var description: String {
        "\(major).\(minor)" + (micro.map { ".\($0)" } ?? "")
    }
}
