/// The name of a program that somebody waits for.
package struct ProgramName: Hashable, Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// nil for what no file can be named: nothing, or something with a slash or NUL.
    package init?(_ text: String) {
        bytes = Array(text.utf8)
        if bytes.isEmpty || bytes.contains(0) || bytes.contains(UInt8(ascii: "/")) { return nil }
    }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    /// Bytes that the kernel keeps of a command's name (`TASK_COMM_LEN` - 1).
    static let commandLength = 15

    /// A program goes by this name if its executable's file, its `argv[0]` or its command's name
    /// is called so.
    ///
    /// The command's name is that of the file that was given to execve(2): a script's own, where
    /// the executable is its interpreter. Of a longer name its 15 bytes alone prove nothing;
    /// then one of the arguments must be the script.
    func matches(_ names: ProcessNames) -> Bool {
        if Self.file(of: names.executable) == bytes[...] { return true }
        if let first = names.arguments.first, Self.file(of: first) == bytes[...] { return true }
        guard names.command[...] == bytes.prefix(Self.commandLength) else { return false }
        return bytes.count <= Self.commandLength
            || names.arguments.contains { Self.file(of: $0) == bytes[...] }
    }

    /// What follows the last slash.
    static func file(of path: [UInt8]) -> ArraySlice<UInt8> {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        return path[(slash.map { $0 + 1 } ?? 0)...]
    }
}

/// What a process can be known by. Bytes, for names need not be text.
struct ProcessNames: Hashable, Sendable {
    /// At most 15 bytes.
    var command: [UInt8]
    /// The path that `/proc/PID/exe` leads to; empty where that may not be known.
    var executable: [UInt8]
    var arguments: [[UInt8]]

    init(command: [UInt8], executable: [UInt8], arguments: [[UInt8]]) {
        self.command = command
        self.executable = Self.withoutMark(executable)
        self.arguments = arguments
    }

    /// The kernel marks files that were replaced or removed since.
    private static func withoutMark(_ path: [UInt8]) -> [UInt8] {
        let mark = Array(" (deleted)".utf8)
        return path.suffix(mark.count) == mark[...] ? Array(path.dropLast(mark.count)) : path
    }
}
