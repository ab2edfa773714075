/// The name of a program that the user waits for.
package struct ProgramName: Hashable, Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// nil if no file can have this name: it is empty, or contains a slash or NUL.
    package init?(_ text: String) {
        bytes = Array(text.utf8)
        if bytes.isEmpty || bytes.contains(0) || bytes.contains(UInt8(ascii: "/")) { return nil }
    }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    /// How many bytes of a command's name the kernel keeps (`TASK_COMM_LEN` - 1).
    package static let commandLength = 15

    /// True if the executable's file, its `argv[0]` or its command's name is this name.
    ///
    /// The command's name is that of the file given to execve(2): a script's own name, where the
    /// executable is its interpreter. The kernel cuts it after 15 bytes. For a longer name these
    /// bytes prove nothing; then one of the arguments must be the script.
    package func matches(_ names: ProcessNames) -> Bool {
        if Self.file(of: names.executable) == bytes[...] { return true }
        if let first = names.arguments.first, Self.file(of: first) == bytes[...] { return true }
        guard names.command[...] == bytes.prefix(Self.commandLength) else { return false }
        return bytes.count <= Self.commandLength
            || names.arguments.contains { Self.file(of: $0) == bytes[...] }
    }

    /// The part after the last slash.
    package static func file(of path: [UInt8]) -> ArraySlice<UInt8> {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        return path[(slash.map { $0 + 1 } ?? 0)...]
    }
}

/// The names by which a process can be known. Bytes, since a name need not be text.
package struct ProcessNames: Hashable, Sendable {
    /// At most 15 bytes.
    package var command: [UInt8]
    /// The path that `/proc/PID/exe` leads to; empty if we may not read it.
    package var executable: [UInt8]
    package var arguments: [[UInt8]]

    package init(command: [UInt8], executable: [UInt8], arguments: [[UInt8]]) {
        self.command = command
        self.executable = Self.withoutMark(executable)
        self.arguments = arguments
    }

    /// The kernel marks a file that has been replaced or removed.
    private static func withoutMark(_ path: [UInt8]) -> [UInt8] {
        let mark = Array(" (deleted)".utf8)
        return path.suffix(mark.count) == mark[...] ? Array(path.dropLast(mark.count)) : path
    }
}
