import CSystem
import Glibc

/// The signals that a watch takes from a queue.
enum WatchSignals {
    static let ending = [SIGINT, SIGTERM, SIGQUIT]
    /// SIGHUP: close the folder's files. SIGCHLD: a recorder of ours has ended.
    static let others = [SIGHUP, SIGCHLD]

    /// Call it before the process has any other thread.
    static func block() {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in ending + others { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // If it stayed ignored, we would not learn of our recorders' ends.
        signal(SIGCHLD, SIG_DFL)
        // Reaching a limit of file size is an error like any other.
        signal(SIGXFSZ, SIG_IGN)
    }
}
