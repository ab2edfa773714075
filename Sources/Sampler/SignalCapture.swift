import CSystem
import Glibc
import ProfileModel

/// Takes the stacks of running threads by a signal whose handler, in the program, copies them to
/// shared memory: a few microseconds of the thread's time, where a stop costs fifty.
///
/// Signals are sent to running threads only, and only to those that will not mind: not where the
/// signal is blocked (it would surface in a `sigwait`), nor under a seccomp filter that the
/// program installed (it may forbid the return from a handler), nor when the program has set an
/// action of its own for the signal. Those are stopped instead.
struct SignalCapture {
    let slots: SharedSlots
    private let pid: Int32
    private let usualFilters: Int64

    static let slotSize = 1 << 18
    static let slotCount = 512
    /// How many refusals are one too many.
    private static let patience = 20

    init(pid: Int32, slots: SharedSlots) {
        self.pid = pid
        self.slots = slots
        usualFilters = ProcessFiles(pid: getpid()).status("Seccomp_filters:") ?? 0
    }

    enum Verdict {
        case asked
        /// The last request is still under way.
        case waiting
        /// It must be stopped instead.
        case unsuitable
    }

    /// Asks a running thread for its stack, which lies within `bounds`.
    func ask(_ thread: TracedThread, bounds: Range<UInt64>) -> Verdict {
        if slots.isDisplaced { return .unsuitable }
        if let slot = thread.slot, slots.state(of: slot) != .idle {
            return hasIgnoredRequest(thread, slot) ? .unsuitable : .waiting
        }
        // A filter that we run under ourselves lets the handler's calls pass.
        guard let reservations = thread.reservations(), reservations.filters <= usualFilters
        else { return .unsuitable }
        // Threads are born with all signals blocked; only some stay so.
        if reservations.blocksSamplingSignal {
            thread.refusals += 1
            return thread.refusals > Self.patience ? .unsuitable : .waiting
        }
        guard let slot = thread.slot ?? slots.take() else { return .unsuitable }
        thread.slot = slot
        thread.refusals = 0
        thread.coresAtRequest = thread.counters()?.slices ?? 0
        slots.request(slot, stack: bounds, mayCall: true)
        if fl_signal_thread(pid, thread.tid, SIGURG, slots.address(of: slot)) != 0 {
            slots.cancel(slot)
        }
        return .asked
    }

    /// A handler that is there answers as soon as its thread gets a core: one that got several
    /// has no such handler.
    private func hasIgnoredRequest(_ thread: TracedThread, _ slot: Int) -> Bool {
        guard slots.state(of: slot) == .requested, let counters = thread.counters() else {
            return false
        }
        if counters.slices > thread.coresAtRequest + 1 { thread.refusals += 1 }
        return thread.refusals > Self.patience
    }

    /// What the thread has answered, if it has.
    func answer(of thread: TracedThread) -> SharedSlots.Answer? {
        guard let slot = thread.slot, slots.state(of: slot) == .filled else { return nil }
        return slots.takeAnswer(slot)
    }

    /// Whether a handler is at work, or may yet begin.
    func isUnderWay(_ thread: TracedThread) -> Bool {
        guard let slot = thread.slot else { return false }
        let state = slots.state(of: slot)
        return state == .requested || state == .busy
    }

    func forget(_ thread: TracedThread) {
        if let slot = thread.slot { slots.giveBack(slot) }
        thread.slot = nil
    }
}
