import CSystem
import Glibc
import Synchronization

/// A process in our process group that only reports which signals reached it. So we know whether a
/// signal came to us alone or to the whole group, as from `kill -TERM -PGID`, timeout(1) or a
/// service manager; the kernel does not say.
///
/// It ends with us.
package final class ProcessGroupProbe: Sendable {
    private struct State {
        /// nil: it did not answer.
        var control: Int32?
        /// The signals that it reported and that were not asked about yet.
        var signals: UInt64 = 0
    }

    private let state: Mutex<State>

    /// nil: the process could not be started.
    package init?() {
        var control: Int32 = -1
        guard fl_witness_start(&control) == 0 else { return nil }
        state = Mutex(State(control: control))
    }

    deinit { state.withLock { if let control = $0.control { close(control) } } }

    /// - Returns: true if the signal has reached it since the last such question.
    package func ask(_ signal: Int32) -> Bool {
        state.withLock { state in
            guard let control = state.control else { return false }
            var signals: UInt64 = 0
            if fl_witness_ask(control, &signals) == 0 {
                state.signals |= signals
            } else {
                // A late answer would be taken for the answer to another question.
                close(control)
                state.control = nil
            }
            let bit: UInt64 = 1 << UInt64(signal - 1)
            defer { state.signals &= ~bit }
            return state.signals & bit != 0
        }
    }
}
