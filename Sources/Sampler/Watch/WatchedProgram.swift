/// A program that a process executed while launches are watched.
package struct WatchedProgram: Hashable, Sendable {
    /// The executable's file, as the kernel names it; empty: not known. A script's is its interpreter.
    package var executable: String
    /// What it is called: the executable's file, unless it was executed by another name: a script's
    /// own, or that of a link to it.
    package var name: String
    /// Where that is, if it is known: the executable, or the script as its interpreter was given it.
    package var path: String
    /// Of the executable; 0: not known.
    package var inode: UInt64

    /// nil: it is known neither by its file nor by its command's name.
    init?(_ names: ProcessNames, inode: UInt64 = 0) {
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
        // A longer name was cut: an argument may have the rest.
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

/// Whose launches are watched.
package enum WatchedNames: Hashable, Sendable {
    case all
    case programs([ProgramName])

    func include(_ names: ProcessNames) -> Bool {
        switch self {
        case .all: true
        case .programs(let wanted): wanted.contains { $0.matches(names) }
        }
    }
}
