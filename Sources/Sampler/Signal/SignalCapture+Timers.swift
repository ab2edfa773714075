import Agent
import ProcessIO
import ProfileModel
import System

/// Stacks by a thread's timer: see ``SignalTimer``.
extension SignalCapture {
    /// Gives a thread a timer.
    ///
    /// - Returns: whether it has one now. The program may just be about to change what the signal does.
    func begin(
        _ thread: TracedThread, _ status: ThreadStatus, each interval: TimeSpan
    ) throws(SystemError) -> Bool {
        guard !thread.statuses.wasMasking, slots.hasRoomForTimer, let signal = signal(for: status)
        else { return false }
        let timing = thread.timing
        while timing.slots.count < AgentMemory.slotsPerTimer {
            guard slots.arePlenty, let slot = slots.take() else { break }
            timing.add(slot: slot)
        }
        guard !timing.slots.isEmpty,
            let timer = try SignalTimer(
                tid: thread.tid, sending: signal, masks: thread.statuses.masks, each: interval,
                own: timing.slots, in: slots)
        else { return false }
        // Checked now that the timer is there: a thread that changes these conditions then looks
        // for timers, and finds this one.
        if slots.lookForMasking() || isOutdated(timer) { return false }
        timing.begin(timer)
        timer.allow(SignalTimer.reserve)
        return true
    }

    /// Requests answers in the idle ones of a thread's slots: in the first ones if there is any
    /// room, in the others as long as there is plenty.
    ///
    /// - Returns: in how many.
    func arm(_ thread: TracedThread, _ place: StackPlace, frames: UInt64) -> Int {
        var count = 0
        for (index, slot) in thread.timing.slots.enumerated()
        where slots.state(of: slot) == .idle && (index < 2 || slots.haveRoomToSpare) {
            let isArmed = slots.arm(
                slot, stack: place.range, limit: stackBytes, frames: frames)
            if isArmed { count += 1 }
        }
        return count
    }

    /// Whether a thread is giving an answer to its timer, or has given one that was not taken.
    func isAnswering(_ thread: TracedThread) -> Bool {
        thread.timing.slots.contains { [.busy, .filled].contains(slots.state(of: $0)) }
    }

    /// A thread's answers to its timer's signals, in the order of time.
    ///
    /// - Parameter limit: later ones are left for the next call.
    func answersToTimer(
        of thread: TracedThread, upTo limit: MonotonicTime
    ) -> [CapturedStack] {
        thread.timing.slots.compactMap { slot in
            switch slots.state(of: slot) {
            case .filled where slots.timeOfAnswer(slot) <= limit: return slots.takeAnswer(slot)
            case .filled: break
            case .declined: slots.free(slot)
            case .idle, .requested, .busy: break
            }
            return nil
        }.sorted { $0.time < $1.time }
    }

    /// Ends a thread's timer. The thread's answer to the last signal can still be taken.
    func endTimer(of thread: TracedThread) {
        thread.timing.end()
        for slot in thread.timing.slots { slots.disarm(slot) }
    }

    /// Whether the timer's signal is not the one to send any more.
    func isOutdated(_ timer: SignalTimer) -> Bool {
        slots.isFiltered || slots.masks != timer.masks
            || (timer.signal == slots.signal ? slots.isDisplaced : !slots.hasSpare)
    }
}
