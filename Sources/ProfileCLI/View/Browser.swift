import Glibc

/// The program that opens pages for the user.
struct Browser {
    private let program: String

    /// The desktop's choice; `BROWSER` may name another program.
    static var ofUser: Browser {
        let wanted = getenv("BROWSER").map { String(cString: $0) } ?? ""
        return Browser(program: wanted.isEmpty ? "xdg-open" : wanted)
    }

    /// A browser in the terminal keeps the terminal until it ends.
    ///
    /// - Returns: false if it failed, which was reported.
    func open(_ path: String, _ console: Console) -> Bool {
        guard let problem = Self.problem(running: [program, path]) else { return true }
        console.complain(
            "\(program) \(problem); open the file above in a browser, or name one in BROWSER")
        return false
    }

    /// The error; nil: none. Unsafe code: posix_spawn takes C strings, which are freed afterwards.
    private static func problem(running words: [String]) -> String? {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let number = posix_spawnp(&child, words[0], nil, nil, &arguments, environ)
        guard number == 0 else {
            return "cannot be started: \(String(cString: strerror(number)))"
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return nil }
        }
        return status == 0 ? nil : "failed"
    }
}
