import Agent
import ProcessIO
import ProfileModel

/// Follows one process from a moment on. It receives ptrace's reports on the process's threads,
/// looks at each thread at every tick, and passes on the results. Everything happens on one thread,
/// because ptrace belongs to the thread that began it. When that thread ends, the kernel releases
/// all threads that it traced, without another stop.
///
/// Its parts do the work; it says which of them works when.
final class ProcessSession: SessionPart {
    let context: SessionContext

    let parts: SessionParts

    init(
        _ process: any ProcessAccess, options: SamplerOptions, sink: any SampleSink,
        machine: MachineLoad? = nil
    ) {
        context = SessionContext(process, options: options, sink: sink, machine: machine)
        parts = SessionParts(context)
        context.receiver = self
    }

    // MARK: Ticks

    /// Looks at each thread that is due. ``ProcessGroup/run(_:_:)`` calls it.
    ///
    /// - Parameter missed: how many ticks were missed before this one.
    func tick(at now: MonotonicTime, missed: Int32) {
        ledger.tick(missed: missed)
        guard outcome == nil else { return }
        parts.timerEnds.watchTimers()
        parts.harm.lookForChildren()
        if let execution = stage.execution {
            // Only the report of the exec shows whether the new program runs already.
            guard now > execution.deadline || area?.isExecuting == false else { return }
            parts.polling.abandonExecution()
        }
        observer.watchMappings(at: now, libraries: context.instrumentation?.loadedLibraries)
        parts.eventFollower.takeCode(upTo: context.newsLimit)
        parts.libraryReports.reportLibrariesSeen(at: now)
        parts.polling.followUntraced(at: now)
        parts.requests.callOffLateStops(at: now)
        tendOurCode(at: now)
        parts.schedule.reportSchedule()
        if context.scheduler.takeNewThreads() { parts.discovery.addNewThreads(at: now) }
        let reading = context.scheduler.reading
        // A thread that is not looked at may have had no core just before later samples.
        let limit = [context.newsLimit, reading?.time].compactMap(\.self).min()
        for thread in threads.values where thread.phase == .free && isDue(thread, at: now) {
            if isAllKnown(of: thread, by: reading), thread.takeRest() {
                leave(thread, upTo: limit, at: now)
            } else {
                look(at: thread, now)
            }
        }
        for refinement in sink.takeRefinements() { parts.requests.refine(refinement) }
    }

    /// Continues the work that our code in the program waits for, and takes its notes.
    private func tendOurCode(at now: MonotonicTime) {
        if let image = stage.image {
            parts.agentEntry.giveUpEntry(of: image)
            // The thread may have had no core at first.
            if area?.isSettled == true { parts.patcher.emptyCave(of: image) }
        }
        parts.agentJoin.completeEntry(at: now)
        parts.hookReports.reportHooks(at: now)
        parts.markPlacer.placeMarks()
    }

    /// Asks nothing of a thread of which everything is known.
    private func leave(_ thread: TracedThread, upTo limit: MonotonicTime?, at now: MonotonicTime) {
        parts.eventStacks.takeSamples(of: thread, thread.clock.counters, upTo: limit)
        observer.watchName(of: thread, at: now)
        observer.followWait(of: thread, at: now)
    }

    private func look(at thread: TracedThread, _ now: MonotonicTime) {
        guard let counters = thread.counters() else { return parts.polling.forget(thread, at: now) }
        context.cpuAvoidance.leaveCore(of: thread, counters, at: now)
        observer.watchName(of: thread, at: now)
        parts.signalStacks.takeAnswer(of: thread, counters)
        parts.eventStacks.takeSamples(of: thread, counters, upTo: context.newsLimit)
        if thread.phase != .free || parts.signalStacks.followRequest(of: thread, counters) {
            return
        }
        observer.watchPriority(of: thread, counters, at: now)
        switch observer.look(at: thread, counters, at: now) {
        case .running: parts.stackCapture.captureRunning(thread, counters, at: now)
        case .blocked:
            parts.eventStacks.calibrate(thread)
            parts.requests.detachBlocked(thread)
        case .moving: break
        case .gone: parts.polling.forget(thread, at: now)
        }
    }

    /// Whether the scheduler tells all that a look would: the thread sleeps on, or it keeps its core, or still
    /// wants one, and events take its stacks. So its counters but the CPU time, which its samples bring along,
    /// are those of the last look.
    private func isAllKnown(of thread: TracedThread, by reading: ScheduleReading?) -> Bool {
        guard thread.isAsleep || reading != nil && isSampledAtWork(thread),
            !stage.isSettling, !thread.tracing.isTraced, thread.timing.slots.isEmpty,
            reading?.stirring.contains(thread.tid) != true
        else { return false }
        return context.signalCapture?.isUnderWay(thread) != true
    }

    private func isSampledAtWork(_ thread: TracedThread) -> Bool {
        thread.isAtWork && thread.samples != nil && !parts.timerStacks.wantsTimer(thread)
    }

    /// Whether to look at a thread at this tick. Where there are very many threads, those that have
    /// slept for long take turns. Otherwise looking at them would take more of a core than the
    /// scheduler grants us, and all threads would be seen less.
    private func isDue(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        let turns = threads.count / Self.sleepersPerTick
        guard turns > 1, thread.blocked != nil, now - thread.clock.time > Self.longSleep else {
            return true
        }
        return (Int(ledger.ticks) &+ thread.index.rawValue) % turns == 0
    }

    private static let sleepersPerTick = 64
    private static let longSleep = TimeSpan.milliseconds(20)

    // MARK: Reports from ptrace

    /// The work to do before we wait for a thread or process that has ended.
    func prepareForChanges() {
        parts.timerEnds.watchTimers()
        parts.images.takePostponed()
        parts.gate.serveGate()
        parts.polling.followExecution()
        parts.polling.observeEnd()
    }

    // MARK: Endings

    /// Takes no more looks; the process goes on.
    func abandon() { parts.leaving.abandon() }

    /// Ends the recording: the process is released as soon as that does no harm.
    func leave() { parts.leaving.leave() }

    /// The results of the recording, once it is over.
    func result() -> SamplerOutcome {
        SamplerOutcome(
            outcome: outcome ?? .unknown, ticks: ledger.ticks, missedTicks: ledger.missedTicks,
            samples: ledger.samples,
            lateness: .zero, heldByProfiler: observer.heldByProfiler,
            capture: context.tree == nil ? context.capture : .tree,
            cpu: ledger.observedCPU, account: context.scheduler.account,
            notes: ledger.finalNotes(lostWaits: observer.waits.lost),
            markProblems: marks?.problems ?? [])
    }

    var outcome: Recording.Outcome? { stage.outcome }
}

extension ProcessSession: TraceReceiver {
    func take(_ event: TraceEvent, of tid: Int32) { parts.ptrace.take(event, of: tid) }

    func takeChanges() {
        prepareForChanges()
        while outcome == nil, let report = process.nextReport() {
            if let event = report.event { take(event, of: report.tid) }
        }
    }
}
