import CSystem
import Glibc

/// Looks for pending signals: they are blocked, and taken from a queue.
enum Interrupt {
    static var isPending: Bool { pending != nil }

    /// The signal with which the user asks us to end; nil: none is pending.
    static var pending: Int32? {
        var set = sigset_t()
        sigpending(&set)
        return [SIGINT, SIGTERM, SIGHUP, SIGQUIT].first { sigismember(&set, $0) == 1 }
    }
}
