/// A program that a process executed while launches are watched.
package struct WatchedProgram: Hashable, Sendable {
    /// The executable's file, as the kernel names it; empty: unknown. For a script, its
    /// interpreter.
    package var executable: String
    /// The program's name: that of the executable's file, unless it was executed by another name: a
    /// script's own, or that of a link to it.
    package var name: String
    /// The path of the program if known: of the executable, or of the script as given to its
    /// interpreter.
    package var path: String
    /// The executable's inode; 0: unknown.
    package var inode: UInt64

    /// nil: both the file's and the command's name are unknown.
    package init?(_ names: ProcessNames, inode: UInt64 = 0) {
        let file = ProgramName.file(of: names.executable)
        let command = names.command
        guard !file.isEmpty || !command.isEmpty else { return nil }
        executable = String(decoding: names.executable, as: UTF8.self)
        self.inode = inode
        if command.isEmpty || file.prefix(ProgramName.commandLength) == command[...] {
            name = String(decoding: file, as: UTF8.self)
            path = executable
            return
        }
        // The name was cut after 15 bytes: an argument may have all of it.
        let argument = names.arguments.first { argument in
            let file = ProgramName.file(of: argument)
            return file.prefix(ProgramName.commandLength) == command[...]
        }
        name = String(
            decoding: argument.map { ProgramName.file(of: $0) } ?? command[...], as: UTF8.self)
        let slash = UInt8(ascii: "/")
        path = argument?.first == slash ? String(decoding: argument ?? [], as: UTF8.self) : name
    }
}

/// Tells which programs' launches are watched.
package enum WatchedNames: Hashable, Sendable {
    case all
    case programs([ProgramName])

    package func include(_ names: ProcessNames) -> Bool {
        switch self {
        case .all: true
        case .programs(let wanted): wanted.contains { $0.matches(names) }
        }
    }
}
