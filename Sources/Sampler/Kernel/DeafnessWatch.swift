import CSystem
import Glibc
import Synchronization

/// Whoever wants the recorder to end is heard, even if the thread that takes signals is held up in
/// the kernel: to read the program's memory waits for whoever serves it (userfaultfd(2), a file
/// system that is a process), and that may be for ever. Then signals do what they do in any
/// program. What was recorded until then is kept, and the program goes on, as after any sudden end
/// of a recorder.
final class DeafnessWatch: Sendable {
    private let isOver = Mutex(false)
    /// So many looks in a row, one a second, a signal must have waited.
    private static let patience = 5

    init() {
        _ = startThread { [self] in
            var looks = 0
            while looks < Self.patience, !isOver.withLock({ $0 }) {
                sleep(1)
                looks = SignalQueue.isToEnd ? looks + 1 : 0
            }
            guard !isOver.withLock({ $0 }) else { return }
            var set = sigset_t()
            sigemptyset(&set)
            for signal in SignalQueue.endSignals { sigaddset(&set, signal) }
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
        }
    }

    func end() { isOver.withLock { $0 = true } }
}
