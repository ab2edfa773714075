import CSystem
import Glibc
import ProfileModel
import Sampler
import System

/// Ends a program whose launch is over, or waits for its end. Signals to us stay pending: a user's
/// request to stop must not be lost between two launches.
struct ProgramEnd {
    let pid: Int32

    /// How long a program may take to follow SIGTERM.
    private static let patience = TimeSpan.milliseconds(10_000)
    private static let interval: UInt32 = 1_000

    /// First by SIGTERM, then, if necessary, by SIGKILL.
    func stop() {
        kill(pid, SIGTERM)
        kill(pid, SIGCONT)
        guard !hasEnded(within: Self.patience, unless: { false }) else { return }
        kill(pid, SIGKILL)
        _ = hasEnded(within: Self.patience, unless: { false })
    }

    /// Waits until it ends by itself; stops it if the user asks us to end.
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
            // 0: it still runs; an error: its status was taken elsewhere.
            guard fl_wait(pid, 1, &status) == 0 else { return true }
            guard MonotonicTime.now < end, !isToStop() else { return false }
            usleep(Self.interval)
        }
    }
}
