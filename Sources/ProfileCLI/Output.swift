import Glibc

/// Printing as the whole purpose of a run.
enum Output {
    /// Prints to standard output and returns the exit status: 0; 141 for a closed pipe, quietly,
    /// as of a program that SIGPIPE killed; 1 with a complaint for any other failure.
    static func print(_ text: String, to console: Console) -> Int32 {
        do {
            try console.write(text)
            return 0
        } catch {
            if error.isClosedPipe { return 128 + SIGPIPE }
            let reason = strerror(error.errno).map { String(cString: $0) } ?? "error"
            console.complain("cannot write to standard output: \(reason)")
            return 1
        }
    }
}
