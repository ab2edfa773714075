import Agent
import ProcessIO
import ProfileModel

/// Takes the stacks of running threads in the way that ``CapturePolicy`` chooses.
struct StackCapture: SessionPart {
    let context: SessionContext
    let harm: StopHarm
    let timerEnds: TimerEnds
    let requests: StopRequests
    let timerStacks: TimerStacks
    let eventStacks: EventStacks
    let signalStacks: SignalStacks

    /// Takes a running thread's stack, in the way that harms it least.
    func captureRunning(
        _ thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        // Nothing else need be known of the thread.
        if thread.samples != nil, thread.timing.timer == nil, !timerStacks.wantsTimer(thread),
            context.isSampledByTree(thread)
                || !context.stage.isSettling && !context.isTracedForNothing(thread)
        {
            return
        }
        guard let status = recentStatus(of: thread, counters) else { return }
        let hasWaited = thread.burst.hasWaited(voluntary: status.voluntary)
        let candidate = CaptureCandidate(
            thread: thread, status: status, counters: counters,
            approach: thread.approach(voluntary: status.voluntary, at: now),
            hasWaited: hasWaited, now: now, context: context, harm: harm,
            timerStacks: timerStacks)
        if candidate.needsStop { timerEnds.endTimer(of: thread) }
        var failed = FailedWays()
        while let choice = CapturePolicy.decide(candidate, without: failed) {
            if capture(candidate, choice) { return }
            failed.insert(choice.way)
        }
    }

    /// - Returns: false: this way failed.
    private func capture(_ candidate: CaptureCandidate, _ choice: CaptureChoice) -> Bool {
        let thread = candidate.thread
        if choice.isDetour { noteDetour(candidate) }
        switch choice.way {
        case .timer:
            return timerStacks.sampleByTimer(
                thread, candidate.status, candidate.counters, at: candidate.now)
        case .events:
            return eventStacks.sampleByEvents(
                thread, candidate.hasWaited ? nil : candidate.counters)
        case .signal: return signalStacks.ask(candidate)
        case .stop:
            harm.lookAtFirstMask()
            requests.stop(thread)
        case .spare:
            harm.lookAtFirstMask()
            requests.spare(thread)
        }
        return true
    }

    /// Notes why a thread cannot be asked by signal, which would be its way. A lasting reason is
    /// worth a note.
    private func noteDetour(_ candidate: CaptureCandidate) {
        let obstacle = candidate.obstacle ?? .slotsExhausted
        candidate.thread.requests.noteDetour()
        switch obstacle {
        case .displaced, .filtered: ledger.note(obstacle, 1)
        default:
            if candidate.thread.requests.detours == SignalCapture.patience {
                note(obstacle)
            }
        }
    }

    private func recentStatus(
        of thread: TracedThread, _ counters: SchedulerCounters
    ) -> ThreadStatus? {
        guard let instrumentation = context.instrumentation, let signals = instrumentation.signals
        else {
            return thread.status()
        }
        let masks = signals.slots.masks
        // In this order: a thread that `masks` counts is then found about to block our signal, or
        // has done so.
        let isMasking = signals.slots.lookForMasking()
        thread.statuses.saw(
            masks: masks, isMasking: isMasking,
            mayChange: instrumentation.masks.look(at: masks, threads: threads.count))
        return thread.recentStatus(
            counters, looks: signals.looksPerStatus(seesMasks: instrumentation.seesMasks))
    }
}
