import CSystem
import Glibc
package import ProcessIO
package import ProfileModel
import System

/// A program that we started and that still runs after its recording.
package struct Program: Sendable {
    package let pid: Int32

    package init(pid: Int32) {
        self.pid = pid
    }

    /// Sends a signal to the program; false if it is gone.
    @discardableResult
    package func send(_ signal: Int32) -> Bool { kill(pid, signal) == 0 }

    /// Passes on a signal that was sent to us, unless the program has received it, too: from the
    /// terminal, or because it is in our process group.
    package func pass(
        _ signal: Int32, isFromTerminal: Bool = false, from signals: SignalQueue
    ) {
        let cameToGroup = signals.cameToGroup(
            signal, within: isFromTerminal ? .zero : Self.patience)
        if isFromTerminal || cameToGroup && getpgid(pid) == getpgrp() { return }
        send(signal)
    }

    /// How long after us the rest of the group may get the signal.
    private static let patience = TimeSpan.milliseconds(20)

    /// Waits for the program's end, and passes on signals that we get in the meantime.
    package func waitForEnd(_ signals: SignalQueue) -> Recording.Outcome {
        waitForEnd(signals, until: nil) ?? .unknown
    }

    /// As ``waitForEnd(_:)``, but for at most `limit`; nil: the program still runs then.
    package func waitForEnd(_ signals: SignalQueue, limit: TimeSpan) -> Recording.Outcome? {
        // The ticker wakes us now and then.
        guard var ticker = try? Ticker(frequency: 20) else { return waitForEnd(signals) }
        ticker.start()
        let outcome = waitForEnd(signals, until: .now + limit)
        _ = consume ticker
        return outcome
    }

    private func waitForEnd(
        _ signals: SignalQueue, until deadline: MonotonicTime?
    ) -> Recording.Outcome? {
        while true {
            var status: Int32 = 0
            let got = fl_wait(pid, 1, &status)
            if got == pid, let event = TraceEvent(status: status) {
                if case .exited(let code) = event { return .exited(code) }
                if case .killed(let signal) = event { return .signalled(signal) }
            }
            if got < 0 { return .unknown }
            if let deadline, .now >= deadline { return nil }
            switch signals.next() {
            case .end(let signal, let isFromTerminal):
                pass(signal, isFromTerminal: isFromTerminal, from: signals)
            case .message(let signal): pass(signal, from: signals)
            case .tick, .childChanged, .stop, .finish: break
            }
        }
    }
}
