import Glibc

/// For commands whose only purpose is their output.
enum Output {
    /// Prints to standard output and returns the exit status: 0; 141 for a closed pipe, without a
    /// message, like a program that SIGPIPE killed; 1 with a complaint for any other failure.
    static func print(_ text: String, to console: Console) -> Int32 {
        print(Array(text.utf8), to: console)
    }

    static func print(_ bytes: [UInt8], to console: Console) -> Int32 {
        do {
            try console.write(bytes)
            return 0
        } catch {
            if error.isClosedPipe { return 128 + SIGPIPE }
            let reason = strerror(error.errno).map { String(cString: $0) } ?? "error"
            console.complain("cannot write to standard output: \(reason)")
            return 1
        }
    }

    /// The target of a text: a file, or else standard output. A file has the width of a pipe.
    static func terminal(for path: String?, _ console: Console) -> Terminal {
        path == nil
            ? console.terminal(of: .output) : Terminal(isTerminal: false, columns: nil) { _ in nil }
    }

    /// Writes a file and returns the exit status: 0, or 1 with a complaint. An earlier file stays
    /// until all of the new one is written.
    static func write(_ bytes: [UInt8], to path: String, _ console: Console) -> Int32 {
        // Devices and pipes cannot be replaced.
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        let target = isSpecial ? path : "\(path).\(getpid()).tmp"
        let flags = isSpecial ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = open(target, flags, 0o666)
        guard descriptor >= 0 else { return complain(path, errno, console) }
        var problem: Int32 = 0
        do {
            try Console(output: descriptor).write(bytes)
        } catch {
            problem = error.errno
        }
        if close(descriptor) != 0, problem == 0 { problem = errno }
        if problem == 0, !isSpecial, rename(target, path) != 0 { problem = errno }
        guard problem != 0 else { return 0 }
        if !isSpecial { unlink(target) }
        return complain(path, problem, console)
    }

    private static func complain(_ path: String, _ number: Int32, _ console: Console) -> Int32 {
        console.complain("cannot write \(path): \(String(cString: strerror(number)))")
        return 1
    }
}
