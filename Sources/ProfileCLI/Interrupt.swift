import Glibc

/// Signals are blocked and taken from a queue: one that came is pending.
enum Interrupt {
    static var isPending: Bool { pending != nil }

    /// The signal by which the user asks for the end; nil: there is none.
    static var pending: Int32? {
        var set = sigset_t()
        sigpending(&set)
        return [SIGINT, SIGTERM, SIGHUP, SIGQUIT].first { sigismember(&set, $0) == 1 }
    }
}
