import Glibc

/// Signals are blocked and taken from a queue: one that came is pending.
enum Interrupt {
    static var isPending: Bool {
        var set = sigset_t()
        sigpending(&set)
        return [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains { sigismember(&set, $0) == 1 }
    }
}
