import Glibc
package import ProfileModel

/// The path by which a process's program was started: `/usr/bin/redis-server`, where
/// `/proc/PID/exe` names the file that this link leads to (`/usr/bin/redis-check-rdb`).
package struct ProgramPath {
    /// The file that runs, without symbolic links in its path.
    package var executable: String
    /// The path given to execve(2): a script's own path, where the executable is its interpreter.
    /// Empty: unknown.
    package var given: String
    /// `argv[0]`, which may be anything; empty: there is none.
    package var firstArgument: String

    /// The executable's path, unless another name leads to the same file.
    ///
    /// `argv[0]` comes first: programs that have several names choose by it. The path given to
    /// execve may be `/proc/self/exe`.
    ///
    /// - Parameter isExecutable: true if a path leads to the file that runs.
    package func started(isExecutable: (String) -> Bool) -> String {
        for candidate in [calledAs, given] where Self.isName(candidate) {
            if Self.name(of: candidate) == Self.name(of: executable) { return executable }
            if isExecutable(candidate) { return candidate }
        }
        return executable
    }

    /// `argv[0]` without the `-` of login shells. A name without folders is looked for in the
    /// folder of the given program, or of the file.
    private var calledAs: String {
        let plain = firstArgument.hasPrefix("-") ? firstArgument.dropFirst() : firstArgument[...]
        guard !plain.isEmpty, !plain.contains("/") else { return String(plain) }
        let neighbour = Self.isName(given) ? given : executable
        let folder = neighbour.lastIndex(of: "/").map { neighbour[...$0] } ?? ""
        return String(folder + plain)
    }

    /// False for paths that name a file without naming a program.
    private static func isName(_ path: String) -> Bool {
        !name(of: path).isEmpty && !path.hasPrefix("/proc/") && !path.hasPrefix("/dev/fd/")
    }

    private static func name(of path: String) -> Substring {
        path.split(separator: "/").last ?? ""
    }
}

extension Image {
    /// The same image with the path by which it was executed, if `/proc` did not give it: of an
    /// ended process, `/proc` shows less, or nothing.
    ///
    /// - Parameters:
    ///   - code: the program's own code, from an event; nil: there was none.
    ///   - name: the name by which it was executed.
    package func completed(by code: CodeMapping?, called name: String) -> Image {
        let isKnown = [name, arguments.first?.split(separator: "/").last.map(String.init)]
            .contains(String(self.name))
        guard path.isEmpty || !isKnown else { return self }
        // On a busy machine the event may be lost. What the path leads to is known anyway.
        guard let file = code ?? CodeMapping(ofFileAt: path), path.isEmpty || path == file.path
        else { return self }
        return Image(path: file.path(called: name), arguments: arguments, time: time)
    }
}

extension CodeMapping {
    /// The code of a file that need not be mapped anywhere; nil: there is no such file.
    fileprivate init?(ofFileAt path: String) {
        var file = stat()
        guard stat(path, &file) == 0 else { return nil }
        self.init(start: 0, end: 0, fileOffset: 0, path: path, inode: UInt64(file.st_ino))
    }

    /// The path by which the program of this code was started, if this name exists next to the
    /// file: `/usr/bin/sh`, which leads to `/usr/bin/dash`.
    package func path(called name: String) -> String {
        guard let slash = path.lastIndex(of: "/"), !name.isEmpty else { return path }
        let candidate = path[...slash] + name
        var file = stat()
        return stat(String(candidate), &file) == 0 && file.st_ino == inode
            ? String(candidate) : path
    }
}

extension ProgramPath {
    /// - Parameters:
    ///   - executable: where `/proc/PID/exe` leads.
    ///   - firstArgument: from `/proc/PID/cmdline`.
    /// - Returns: an absolute path, or `executable` as it is.
    package static func started(pid: Int32, executable: String, firstArgument: String) -> String {
        let path = ProgramPath(
            executable: executable, given: givenPath(pid: pid), firstArgument: firstArgument)
        guard let file = File("/proc/\(pid)/exe") else { return executable }
        let found = path.started { candidate in
            // The path as the process sees it, which may have another root.
            let place = candidate.hasPrefix("/") ? "root" : "cwd/"
            return File("/proc/\(pid)/\(place)\(candidate)") == file
        }
        return found == executable ? found : absolute(found, of: pid) ?? executable
    }

    /// A path made absolute as the process means it, from its current folder on; nil: unknown.
    package static func absolute(_ path: String, of pid: Int32) -> String? {
        if path.hasPrefix("/") { return path }
        let folder = target(ofLink: "/proc/\(pid)/cwd")
        let relative = path.hasPrefix("./") ? path.dropFirst(2) : path[...]
        return folder.hasPrefix("/") ? "\(folder == "/" ? "" : folder)/\(relative)" : nil
    }

    /// The target of a symbolic link; empty if it cannot be read.
    package static func target(ofLink path: String) -> String {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path, &target, target.count)
        return String(decoding: target.prefix(max(0, length)), as: UTF8.self)
    }

    private static func givenPath(pid: Int32) -> String {
        let address = AuxiliaryVector(pid: pid).fileName
        guard address != 0 else { return "" }
        let bytes = TargetMemory(pid: pid).read(at: address, count: Int(PATH_MAX))
        guard let end = bytes.firstIndex(of: 0) else { return "" }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// Identifies the file that a path leads to.
    private struct File: Hashable {
        var device: UInt
        var number: UInt

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt(status.st_dev)
            number = UInt(status.st_ino)
        }
    }
}
