import Glibc
import ProfileModel
import System

/// The thread that forks measured programs. It lives as long as we do, because a program may ask
/// for a signal at its parent thread's end (PR_SET_PDEATHSIG). While a child shares our memory, the
/// kernel keeps this thread waiting.
package final class StarterThread: @unchecked Sendable {
    /// nil: the thread could not be made.
    package static let shared = StarterThread()

    /// Posted when there is work, and when it is done.
    private let ready = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let idle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    /// Owned by the caller that has taken `idle`, and then by the thread.
    private var work: (@Sendable () -> Void)?

    package init?() {
        guard sem_init(ready, 0, 0) == 0, sem_init(idle, 0, 1) == 0,
            startThread({ [self] in serve() })
        else { return nil }
    }

    /// Gives the thread some work, and returns without waiting for its end.
    ///
    /// - Returns: false: the thread is still waiting for a child.
    package func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        let deadline = MonotonicTime.now + Self.patience
        while sem_trywait(idle) != 0 {
            guard .now < deadline else { return false }
            usleep(100)
        }
        self.work = work
        sem_post(ready)
        return true
    }

    /// The thread's last child has executed its program, or is gone, so the thread needs only a
    /// core.
    private static let patience = TimeSpan.milliseconds(100)

    private func serve() {
        while true {
            while sem_wait(ready) != 0 {}
            work?()
            work = nil
            sem_post(idle)
        }
    }
}
