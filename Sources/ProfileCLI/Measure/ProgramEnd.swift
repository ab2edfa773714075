import CSystem
import Glibc
import ProfileModel
import Sampler
import System

/// Ends a program whose launch is over, or waits for its end. Signals to us stay where they are: that
/// the user wants the end must not be lost between two launches.
struct ProgramEnd {
    let pid: Int32

    /// How long a program may take to follow SIGTERM.
    private static let patience = TimeSpan.milliseconds(10_000)
    private static let interval: UInt32 = 1_000

    /// By SIGTERM, and by SIGKILL if that does not do.
    func stop() {
        kill(pid, SIGTERM)
        kill(pid, SIGCONT)
        guard !hasEnded(within: Self.patience, unless: { false }) else { return }
        kill(pid, SIGKILL)
        _ = hasEnded(within: Self.patience, unless: { false })
    }

    /// When it ends by itself; it is stopped when the user asks for the end.
    func await() {
        // A year.
        guard !hasEnded(within: .milliseconds(31_536_000_000), unless: { Interrupt.isPending })
        else { return }
        stop()
    }

    private func hasEnded(within limit: TimeSpan, unless isToStop: () -> Bool) -> Bool {
        let end = MonotonicTime.now + limit
        while true {
            var status: Int32 = 0
            // 0: it is still there; an error: somebody else has waited for it.
            guard fl_wait(pid, 1, &status) == 0 else { return true }
            guard MonotonicTime.now < end, !isToStop() else { return false }
            usleep(Self.interval)
        }
    }
}
