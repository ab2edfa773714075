import CSystem
import Glibc
package import ProfileModel

extension SignalQueue {
    /// Waits up to `span`, which must be below a second, for a request to end or not to begin. nil:
    /// none came.
    package func endSignal(within span: TimeSpan) -> Int32? {
        wait(for: Self.endSignals + Self.finishSignals, within: span)
    }

    /// Waits up to `span`, which must be below a second, for news of a child. All other signals
    /// stay pending.
    package func awaitChild(within span: TimeSpan) { _ = wait(for: [SIGCHLD], within: span) }

    private func wait(for signals: [Int32], within span: TimeSpan) -> Int32? {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        var time = timespec(tv_sec: 0, tv_nsec: Int(span.nanoseconds))
        let number = sigtimedwait(&set, nil, &time)
        return number > 0 ? number : nil
    }
}

extension SignalQueue {
    /// True if a request to end is pending.
    package static var isToEnd: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return endSignals.contains { sigismember(&pending, $0) == 1 }
    }
}
