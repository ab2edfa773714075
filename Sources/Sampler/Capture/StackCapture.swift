import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Takes the stacks of running threads in the way that ``CapturePolicy`` chooses.
struct StackCapture: SessionPart {
    let context: SessionContext
    let timerWatch: TimerWatch
    let requests: StopRequests
    let timerStacks: TimerStacks
    let eventStacks: EventStacks
    let signalStacks: SignalStacks

    /// Takes a running thread's stack, in the way that harms it least.
    func captureRunning(
        _ thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        if isSampledByTree(thread), !timerStacks.wantsTimer(thread) { return }
        guard let status = signalStacks.recentStatus(of: thread, counters) else { return }
        let hasWaited = thread.burst.hasWaited(voluntary: status.voluntary)
        let candidate = CaptureCandidate(
            thread: thread, status: status, counters: counters,
            approach: thread.approach(voluntary: status.voluntary, at: now),
            hasWaited: hasWaited, now: now, capture: self)
        if candidate.needsStop { timerWatch.endTimer(of: thread) }
        var failed = FailedWays()
        while let way = CapturePolicy.decide(candidate, without: failed) {
            if capture(candidate, way) { return }
            failed.insert(way)
        }
    }

    /// Whether events of the process's tree tell what it does. Of an interpreter's functions they tell too late.
    func isSampledByTree(_ thread: TracedThread) -> Bool {
        context.tree != nil && thread.samples != nil && thread.timing.timer == nil
    }

    /// - Returns: false: this way cannot be had.
    private func capture(_ candidate: CaptureCandidate, _ way: CaptureWay) -> Bool {
        let thread = candidate.thread
        switch way {
        case .timer:
            return timerStacks.sampleByTimer(
                thread, candidate.status, candidate.counters, at: candidate.now)
        case .events:
            return eventStacks.sampleByEvents(
                thread, candidate.hasWaited ? nil : candidate.counters)
        case .signal: return signalStacks.ask(candidate)
        case .stop:
            noteObstacle(candidate)
            requests.stop(thread)
        case .spare:
            noteObstacle(candidate)
            requests.spare(thread)
        }
        return true
    }

    /// What keeps a thread from being asked by signal, which would be its way. If it lasts long, it is worth
    /// a note.
    private func noteObstacle(_ candidate: CaptureCandidate) {
        guard CapturePolicy.asks(candidate) else { return }
        let obstacle = candidate.obstacle ?? .slotsExhausted
        candidate.thread.requests.noteDetour()
        switch obstacle {
        case .displaced, .filtered: ledger.note(obstacle, 1)
        default:
            if candidate.thread.requests.detours == SignalCapture.patience {
                context.note(obstacle)
            }
        }
    }
}
