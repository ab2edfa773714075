import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// Ends a program whose launch is over, or waits for its end. Signals to us stay pending: a user's
/// request to stop must not be lost between two launches.
package struct ProgramEnd {
    private let pid: Int32

    package init(pid: Int32) { self.pid = pid }

    /// How long a program may take to follow SIGTERM.
    package static let patience = TimeSpan.milliseconds(10_000)
    private static let interval: UInt32 = 1_000

    /// First by SIGTERM, then, if necessary, by SIGKILL.
    package func stop() {
        kill(pid, SIGTERM)
        kill(pid, SIGCONT)
        guard !waitForEnd(within: Self.patience, unless: { false }) else { return }
        kill(pid, SIGKILL)
        _ = waitForEnd(within: Self.patience, unless: { false })
    }

    /// Waits until it ends by itself; stops it if the user asks us to end.
    ///
    /// - Parameter isInterrupted: true if the user asks us to end.
    package func await(unless isInterrupted: () -> Bool) {
        // A year.
        guard !waitForEnd(within: .milliseconds(31_536_000_000), unless: isInterrupted)
        else { return }
        stop()
    }

    private func waitForEnd(within limit: TimeSpan, unless isToStop: () -> Bool) -> Bool {
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

extension Program {
    /// Waits for its end after a SIGTERM, and passes on signals that we get in the meantime. Kills
    /// a program that hangs.
    ///
    /// - Parameter tellKill: called before the program is killed.
    package func waitForEndOrKill(
        _ signals: SignalQueue, tellKill: () -> Void
    ) -> Recording.Outcome {
        if let outcome = waitForEnd(signals, limit: ProgramEnd.patience) { return outcome }
        tellKill()
        send(SIGKILL)
        return waitForEnd(signals)
    }
}
