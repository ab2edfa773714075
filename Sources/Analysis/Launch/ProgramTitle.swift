import ProfileModel

extension Recording {
    /// The name of the program that the user started, in the user's words; empty: not known. If
    /// that program replaced itself with another one, the title names both: "report.sh → date".
    var title: String {
        guard let last = images.last else { return "" }
        let name = threads.first { $0.isMain && $0.child == nil }?.name
        let end = last.title(threadName: name)
        guard let first = images.dropLast().lazy.compactMap(\.startedAs).first,
            !end.hasPrefix(first)
        else { return end }
        // The program ended before its name could be read.
        guard !end.isEmpty else { return first }
        return "\(first) → \(end)"
    }
}

extension Profile.Program {
    /// The name of the launch among launches of many programs: for an interpreter, its script or
    /// its module ("app.py", "python3 -m pip").
    package var subject: String {
        let plain = name.prefix { !$0.isNumber }
        guard title == name, Self.interpreters.contains(plain) else { return title }
        let options = arguments.dropFirst().prefix { $0.hasPrefix("-") }
        guard let script = arguments.dropFirst(1 + options.count).first else { return title }
        if options.last == "-m" { return "\(name) -m \(script)" }
        let isText = options.contains { ["-c", "-e"].contains($0) }
        return isText ? title : script.split(separator: "/").last.map(String.init) ?? title
    }

    private static let interpreters: Set<Substring> = [
        "bash", "dash", "lua", "node", "perl", "php", "python", "ruby", "sh", "zsh",
    ]
}

extension Image {
    /// For a script, the kernel runs the interpreter, and names the thread after the script.
    ///
    /// - Parameter threadName: the first thread's name; nil: not known.
    fileprivate func title(threadName: String?) -> String {
        guard let threadName, !threadName.isEmpty else { return String(name) }
        let script = firstArguments.first { Self.threadName(of: $0) == threadName }
        return script.map(String.init) ?? String(name)
    }

    /// The name under which the user started a program that replaced itself with another one. nil:
    /// this program only runs a command, as `env`, the dynamic linker and a shell without a script
    /// do.
    fileprivate var startedAs: String? {
        let options = arguments.dropFirst().prefix { $0.hasPrefix("-") }
        // A shell may have any name.
        let isLinker = Module(path: path).isDynamicLinker
        if isLinker || Self.passingOn.contains(name) || options.contains("-c") { return nil }
        guard Self.shells.contains(name) else { return String(name) }
        let script = arguments.dropFirst(1 + options.count).first
        return script.flatMap { $0.split(separator: "/").last }.map(String.init)
    }

    /// The interpreter's own argument may come before the script.
    private var firstArguments: [Substring] {
        arguments.dropFirst().prefix(2).compactMap { $0.split(separator: "/").last }
    }

    private static let shells: Set<Substring> = ["sh", "bash", "dash", "zsh", "ksh", "busybox"]
    private static let passingOn: Set<Substring> = [
        "chrt", "env", "ionice", "nice", "nohup", "setsid", "stdbuf", "taskset",
    ]

    /// The kernel cuts the name to 15 bytes.
    private static func threadName(of file: Substring) -> String {
        String(decoding: file.utf8.prefix(15), as: UTF8.self)
    }
}
