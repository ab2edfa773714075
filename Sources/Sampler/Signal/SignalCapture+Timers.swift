import ProfileModel

/// Stacks by a thread's timer: see ``SignalTimer``.
extension SignalCapture {
    /// Gives a thread a timer.
    ///
    /// - Returns: whether it has one now. The program may just be about to change what the signal does.
    func begin(
        _ thread: TracedThread, _ status: ThreadStatus, each interval: TimeSpan
    ) throws(SystemError) -> Bool {
        guard !thread.wasMasking, let signal = signal(for: status) else { return false }
        while thread.timedSlots.count < Area.slotsPerTimer {
            guard slots.arePlenty, let slot = slots.take() else { break }
            thread.timedSlots.append(slot)
        }
        guard !thread.timedSlots.isEmpty,
            let timer = try SignalTimer(
                tid: thread.tid, sending: signal, masks: thread.masksAtStatus, each: interval,
                own: thread.timedSlots, in: slots)
        else { return false }
        // Whoever changes what this asks for looks for timers then, and has seen this one.
        if slots.isMasking || isOutdated(timer) { return false }
        thread.timer = timer
        timer.start()
        return true
    }

    /// Asks a thread in all of its slots that wait for nothing.
    func arm(_ thread: TracedThread, _ place: StackPlace, frames: UInt64) {
        for slot in thread.timedSlots where slots.state(of: slot) == .idle {
            slots.arm(slot, stack: place.range, limit: stackBytes, frames: frames)
        }
    }

    /// What a thread has answered to its timer's signals, in the order of time.
    func answersToTimer(of thread: TracedThread) -> [SharedSlots.Answer] {
        thread.timedSlots.compactMap { slot in
            switch slots.state(of: slot) {
            case .filled: return slots.takeAnswer(slot)
            case .declined: slots.takeRefusal(slot)
            case .idle, .requested, .busy: break
            }
            return nil
        }.sorted { $0.time < $1.time }
    }

    /// Ends a thread's timer. What it answers to the last signal can still be taken.
    func endTimer(of thread: TracedThread) {
        thread.timer = nil
        for slot in thread.timedSlots { slots.disarm(slot) }
    }

    /// Whether the timer's signal is not the one to send any more.
    func isOutdated(_ timer: SignalTimer) -> Bool {
        slots.isFiltered || slots.masks != timer.masks
            || (timer.signal == slots.signal ? slots.isDisplaced : !slots.hasSpare)
    }
}
