import CSystem
import Glibc
import System

/// Whoever wants the recorder to end is heard, even if the thread that takes signals is held up: to
/// read the program's memory waits for whoever serves it (userfaultfd(2), a file system that is a
/// process), to write for whoever reads, and that may be for ever. Then signals do what they do in
/// any program. What was recorded until then is kept, and the program goes on, as after any sudden
/// end of a recorder.
///
/// Whoever takes signals in time is not disturbed: it lasts from the first recording to our end.
enum DeafnessWatch {
    /// So many looks in a row, one a second, a signal must have waited.
    private static let patience = 5

    static func begin() { _ = isBegun }

    private static let isBegun = startThread {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in SignalQueue.endSignals { sigaddset(&set, signal) }
        while true {
            var looks = 0
            while looks < patience {
                sleep(1)
                looks = SignalQueue.isToEnd ? looks + 1 : 0
            }
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            // It was taken at the last moment.
            pthread_sigmask(SIG_BLOCK, &set, nil)
        }
    }
}
