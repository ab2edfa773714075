import Agent
import CSystem
import Glibc
import ProcessIO
import ProfileModel

/// Takes the stacks of running threads by a signal whose handler, in the program, copies them to
/// shared memory: a few microseconds of the thread's time, where a stop costs fifty.
///
/// Signals are sent to running threads only, and only to those that they do not harm: not where the
/// signal is blocked (it would surface in a `sigwait`), nor under a seccomp filter that the program
/// installed (it may forbid the handler's calls, or the return from it), nor when the program has
/// set an action of its own for the signal, nor where the frame would have no room. Where the
/// program uses the first signal itself, our code in it keeps a spare one ready.
struct SignalCapture {
    let slots: SharedSlots
    private let pid: Int32
    private let usualFilters: Int64
    let stackBytes: Int

    /// How many times without an answer are too many.
    static let patience = 20
    /// Longer than the kernel's figure of a running thread lags.
    private static let longRun = TimeSpan.milliseconds(12)

    /// - Parameter stackBytes: the most to copy of a stack.
    init(pid: Int32, slots: SharedSlots, stackBytes: Int) {
        self.pid = pid
        self.slots = slots
        self.stackBytes = stackBytes
        usualFilters = ThreadStatus.ownFilters
    }

    /// How many looks may go by before a thread's mask must be looked at again: it cannot change
    /// unseen but by a raw system call, or where the C library's call is not known.
    func looksPerStatus(seesMasks: Bool) -> Int { seesMasks ? 16 : 1 }

    // MARK: Requests

    /// Why a running thread cannot be asked; nil when it can.
    ///
    /// - Parameter hasRoom: whether there is room for the signal's frame.
    func obstacle(
        _ thread: TracedThread, _ status: ThreadStatus, hasRoom: Bool
    ) -> RecorderNote.Kind? {
        if slots.isFiltered || status.isFiltered(beyond: usualFilters) { return .filtered }
        if signal(for: status) == nil { return slots.isDisplaced ? .displaced : .blockedSignal }
        if !hasRoom { return .foreignStack }
        if thread.requests.isUnresponsive { return .unanswered }
        return nil
    }

    /// The signal that can be sent to a thread; nil: none.
    func signal(for status: ThreadStatus) -> Int32? {
        if !slots.isDisplaced, !status.blocks(slots.signal) { return slots.signal }
        if slots.hasSpare, !status.blocks(slots.spareSignal) { return slots.spareSignal }
        return nil
    }

    /// Asks a running thread for its stack. false when there is no slot for it.
    ///
    /// - Parameter frames: where an interpreter has the thread's state; nil: it runs none.
    func ask(
        _ thread: TracedThread, _ status: ThreadStatus, _ place: StackPlace,
        _ counters: SchedulerCounters, frames: UInt64? = nil
    ) -> Bool {
        // The status may show the mask that the thread had before.
        guard !thread.statuses.wasMasking, let signal = signal(for: status) else { return true }
        let requests = thread.requests
        guard let slot = requests.slot ?? slots.take() else { return false }
        requests.answer(in: slot)
        guard slots.isReady, slots.state(of: slot) == .idle else { return true }
        (requests.cores, requests.run) = (counters.timeslices, counters.run)
        let request = slots.request(
            slot, of: thread.tid, stack: place.range, limit: stackBytes,
            masks: thread.statuses.masks, bySpare: signal != slots.signal, frames: frames ?? 0)
        guard request == .ready else { return request == .refused }
        let isSent = thread.tracee.send(signal, value: slots.value(for: slot))
        slots.wasSent()
        if !isSent { slots.cancel(slot) }
        return true
    }

    /// - Returns: whether a request is out that the thread may yet answer: as soon as it has a core. (One
    /// that was pushed off its core in the middle of the handler has the signal blocked.)
    func followRequest(of thread: TracedThread, _ counters: SchedulerCounters) -> Bool {
        let requests = thread.requests
        guard let slot = requests.slot, isUnderWay(slot) else { return false }
        // On a core it would have answered within microseconds.
        let hasRun = counters.run - requests.run > Self.longRun.nanoseconds
        if counters.timeslices != requests.cores || hasRun {
            requests.cores = counters.timeslices
            requests.silence += 1
            if requests.silence > Self.patienceForSignal, takeBackIfLost(thread) { return false }
        }
        return !requests.isUnresponsive
    }

    private static let patienceForSignal = 2

    /// The kernel drops a signal if the same one already waits for the thread. Beyond
    /// RLIMIT_SIGPENDING it drops the data that comes with a signal. Then no answer ever comes. An
    /// answer that comes after all finds the request withdrawn.
    private func takeBackIfLost(_ thread: TracedThread) -> Bool {
        guard let slot = thread.requests.slot, let status = thread.status(),
            !status.hasPending(slots.signal), !status.hasPending(slots.spareSignal)
        else { return false }
        slots.cancel(slot)
        // Or the program has set an action of its own without our code's knowledge: it gets no more
        // signals. A timer's signal that waited may have taken the place of ours, too.
        thread.requests.silence = thread.timing.slots.isEmpty ? Self.patience + 1 : 0
        return true
    }

    /// The thread's answer, if there is one.
    func answer(of thread: TracedThread) -> CapturedStack? {
        guard let slot = thread.requests.slot else { return nil }
        switch slots.state(of: slot) {
        case .filled:
            thread.requests.silence = 0
            return slots.takeAnswer(slot)
        case .declined:
            slots.free(slot)
            return nil
        case .idle, .requested, .busy:
            return nil
        }
    }

    /// When a thread has answered, if it has.
    func timeOfAnswer(of thread: TracedThread) -> MonotonicTime? {
        guard let slot = thread.requests.slot, slots.state(of: slot) == .filled else { return nil }
        return slots.timeOfAnswer(slot)
    }

    /// Whether a handler is at work, or may yet begin.
    func isUnderWay(_ thread: TracedThread) -> Bool {
        thread.requests.slot.map(isUnderWay) == true
            || thread.timing.slots.contains(where: isUnderWay)
    }

    private func isUnderWay(_ slot: Int) -> Bool {
        let state = slots.state(of: slot)
        return state == .requested || state == .busy
    }

    /// The thread has ended.
    func forget(_ thread: TracedThread) {
        endTimer(of: thread)
        if let slot = thread.requests.slot { slots.giveBack(slot) }
        // The slots wait for nothing any more: the timer was ended above.
        for slot in thread.timing.slots { slots.giveBack(slot) }
        thread.forgetRequests()
    }
}

/// A thread's requests by signal: see ``SignalCapture``.
final class ThreadRequests {
    /// Where the thread answers, once it was asked.
    private(set) var slot: Int?
    /// How often the thread had had a core, and how much CPU time it had used (in nanoseconds), when it
    /// was last asked.
    fileprivate var cores: Int64 = 0
    fileprivate var run: Int64 = 0
    /// How often it had a core since without an answer.
    fileprivate var silence = 0
    /// How often in a row it had to be stopped because it could not be asked.
    private(set) var detours = 0

    /// Whether the thread left a request unanswered for too long.
    var isUnresponsive: Bool { silence > SignalCapture.patience }

    func answer(in slot: Int) { self.slot = slot }
    func noteDetour() { detours += 1 }
    func endDetours() { detours = 0 }

    /// The memory in which the thread answers is gone.
    func forget() {
        slot = nil
        silence = 0
    }
}
