import CSystem
import Glibc
import Synchronization

/// A process that stands in our process group and does nothing but tell which signals reached it. By
/// it is known whether a signal came to us alone or, as of `kill -TERM -PGID`, timeout(1) or a
/// service manager, to all of the group; the kernel does not say.
///
/// It ends with us.
final class GroupWitness: Sendable {
    private struct State {
        /// nil: it did not answer.
        var control: Int32?
        /// What it told of, and nobody has asked for.
        var signals: UInt64 = 0
    }

    private let state: Mutex<State>

    /// nil: it cannot be had.
    init?() {
        var control: Int32 = -1
        guard fl_witness_start(&control) == 0 else { return nil }
        state = Mutex(State(control: control))
    }

    deinit { state.withLock { if let control = $0.control { close(control) } } }

    /// Whether a signal has reached it since this was asked last.
    func hasHad(_ signal: Int32) -> Bool {
        state.withLock { state in
            guard let control = state.control else { return false }
            var signals: UInt64 = 0
            if fl_witness_ask(control, &signals) == 0 {
                state.signals |= signals
            } else {
                // A late answer would be taken for another one's.
                close(control)
                state.control = nil
            }
            let bit: UInt64 = 1 << UInt64(signal - 1)
            defer { state.signals &= ~bit }
            return state.signals & bit != 0
        }
    }
}
