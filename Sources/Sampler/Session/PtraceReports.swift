import Agent
import Glibc
import ProcessIO
import ProfileModel

/// What ptrace reports of the threads, and how they go on.
extension ProcessSession {
    /// What must be looked at before we wait for anything that ended.
    func prepareForChanges() {
        watchTimers()
        takePostponed()
        serveGate()
        followExecution()
        observeEnd()
    }

    func takeChanges() {
        prepareForChanges()
        while outcome == nil, let report = process.nextReport() {
            if let event = report.event { take(event, of: report.tid) }
        }
    }

    func take(_ event: TraceEvent, of tid: Int32) {
        let now = process.now
        switch event {
        case .exited(let status):
            ended(tid, .exited(status), at: now)
        case .killed(let signal):
            ended(tid, .signalled(signal), at: now)
        case .executed:
            executed(tid, at: now)
        default:
            guard let thread = threads[tid] ?? adopt(tid, at: now) else { return }
            // One that a traced thread made is traced, too, though it was seen before it told.
            if !event.isSignal { thread.tracing.wasSeized() }
            keepCall(of: thread, after: event)
            take(event, of: thread, at: now)
        }
    }

    func take(_ event: TraceEvent, of thread: TracedThread, at now: MonotonicTime) {
        switch event {
        case .stopped:
            sampleAtStop(thread)
            if takeMissedExec(thread, at: now) { return }
            joinIfDue(by: thread, at: now)
            resume(thread, stoppedSince: now)
        case .cloned:
            sampleAtStop(thread)
            if let message = try? thread.tracee.eventMessage() {
                _ = adopt(Int32(truncatingIfNeeded: message), at: now)
            }
            resume(thread, stoppedSince: now)
        case .forked, .call:
            sampleAtStop(thread)
            resume(thread, stoppedSince: now)
        case .exiting:
            // An exec waits for the ends of all other threads. Before Linux 5.7 it locks the memory
            // meanwhile: who reads that before it lets a thread end waits for ever.
            takeLastSamples(of: thread)
            if stage.execution == nil {
                _ = try? observer.sampleStopped(thread)
            } else {
                observer.closeWithoutStack(thread, at: now)
            }
            rename(thread)
            end(thread, at: now)
            leaveEnding(thread)
            // While it gives up its memory, for which somebody may wait. Until its end is taken note of,
            // its figures can be read.
            if thread.tid == pid || threads.values.allSatisfy({ $0.phase == .exited }) {
                ledger.ended(process.counters())
                takeFinalCPU()
            }
        case .signal where thread.tracing.interruption?.hasStopped == true:
            thread.tracing.forgetInterruption()
            take(.stopped, of: thread, at: now)
        case .signal(let number):
            if !thread.tracing.isTraced {
                process.releaseSelfTraced(thread.tid, delivering: number)
            }
            sampleAtStop(thread)
            resume(thread, stoppedSince: now, delivering: number)
        case .groupStop:
            thread.goOn()
            // To wait for a late stop it would have to go on.
            if isFree, !callOffLateStop(thread) {
                release(thread)
            } else {
                try? thread.tracee.listen()
            }
        case .exited, .killed, .executed:
            break
        }
    }

    /// Lets a thread end. While it is traced, its end would have to be taken note of before it is gone, and
    /// whoever has joined it would find it still there. The process's own end is told by its first thread.
    private func leaveEnding(_ thread: TracedThread) {
        let isLeft =
            thread.tid != pid && stage.execution == nil && (try? thread.tracing.detach()) != nil
        if !isLeft { try? thread.tracee.resume() }
    }

    /// Keeps a call going that would go on without us: a stop for us, or for a signal that nobody
    /// handles, must not end it. When the user stops the process and continues it, such calls end.
    func keepCall(of thread: TracedThread, after event: TraceEvent) {
        switch event {
        case .groupStop: thread.tracing.noteGroupStop(true)
        case .signal(let number) where Self.jobSignals.contains(number): break
        case .stopped where thread.tracing.isInGroupStop: thread.tracing.noteGroupStop(false)
        case .stopped: try? thread.tracee.keepCall(restAt: placesForRest(of: thread, besides: nil))
        case .signal(let number):
            try? thread.tracee.keepCall(restAt: placesForRest(of: thread, besides: number))
        default: break
        }
    }

    /// Where a stopped thread may make the rest of a call that was cut short; nil: nowhere, or a signal of
    /// the program's would have cut it short without us.
    ///
    /// - Parameter signal: for which it has stopped.
    private func placesForRest(of thread: TracedThread, besides signal: Int32?) -> RestOfCall
        .Places?
    {
        guard let area, area.isSettled, let status = thread.status(),
            !status.isFiltered(beyond: ThreadStatus.ownFilters),
            !status.isInterrupted(besides: signal), !status.cancelsThreads
        else { return nil }
        return AgentCode.restPlaces(in: area.address)
    }

    private static var jobSignals: Set<Int32> { [SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT] }

    /// Takes the sample for which the thread was interrupted, if it was. If the thread stops for
    /// another reason, the kernel does not report our stop as well.
    private func sampleAtStop(_ thread: TracedThread) {
        guard case .interrupted(let since) = thread.phase else { return }
        // It stands for the stop that was asked for: no other one comes.
        thread.goOn()
        if isLeaving || (stage.hasMissedExec && thread.tid == pid) { return }
        // An exact copy of what it had: it did not move since.
        if thread.blocked != nil, thread.counters()?.timeslices == thread.clock.counters.timeslices
        {
            try? observer.refine(thread)
        } else {
            _ = try? observer.sampleStopped(thread, stoppedSince: since)
        }
        thread.tracing.noteStop(cores: thread.counters()?.timeslices)
        thread.noteOurStop()
    }

    func resume(
        _ thread: TracedThread, stoppedSince: MonotonicTime, delivering signal: Int32 = 0
    ) {
        if thread.phase != .exited { thread.goOn() }
        release(thread, delivering: signal)
        observer.addHold(process.now - stoppedSince, to: thread)
        // A stop that stood for this one was for something else.
        if stage.hasMissedExec, thread.tid == pid { interruptAnywhere(thread) }
    }

    /// Whether threads are traced only for a stop, because stacks are taken by signal, or will be.
    private var isFree: Bool {
        stage.execution == nil && (signalCapture != nil || capture == .signal && isUntraced)
    }

    /// Whether it was seized for an exec that failed. Nobody else can debug a traced thread, and it
    /// stops at each of its signals.
    func isTracedForNothing(_ thread: TracedThread) -> Bool {
        isFree && thread.tracing.isTraced && isUntraced
    }

    /// Lets a stopped thread go on.
    func release(_ thread: TracedThread, delivering signal: Int32 = 0) {
        guard thread.tracing.isTraced else { return }
        // It will stop at once for that, and be let go then.
        guard isFree, !callOffLateStop(thread) else {
            try? thread.tracee.resume(delivering: signal)
            return
        }
        thread.tracing.letGo(delivering: signal)
    }

    /// Whether a stopped thread has yet to stop in its own code, as it was asked to before another
    /// event stopped it. That request is called off. But if its signal is on its way, it must come
    /// while we are there to take it away, because the program may count such signals.
    func callOffLateStop(_ thread: TracedThread) -> Bool {
        guard let interruption = thread.tracing.interruption else { return false }
        interruption.callOff()
        if interruption.isOnItsWay { return true }
        thread.tracing.forgetInterruption()
        return false
    }

    /// Calls off stops at the end, when the kernel lets go of all that we trace.
    func callOffStops(by deadline: MonotonicTime) {
        let asked = threads.values.filter {
            $0.tracing.isTraced && $0.tracing.interruption != nil
        }
        for thread in asked { thread.tracing.interruption?.callOff() }
        while outcome == nil {
            // Also those that were not asked: what they forked may be waited for.
            for thread in threads.values where thread.tracing.isTraced {
                guard let event = process.nextReport(of: thread.tid)?.event else { continue }
                if event == .executed { postponed = event } else { take(event, of: thread.tid) }
            }
            let isOver = asked.allSatisfy {
                !$0.tracing.isTraced || $0.phase == .exited
                    || $0.tracing.interruption?.isOnItsWay != true
            }
            guard !isOver, process.now < deadline, !isCalledOff else { return }
            pause(microseconds: 200)
        }
    }

    /// Reads the last figures of a thread that has ended; they can be read until somebody takes
    /// note of its end. If it was stopped before, they are known.
    func readLastFigures(of tid: Int32) {
        guard tree != nil, tracesChildren, let thread = threads[tid], thread.phase != .exited,
            !isClosed
        else {
            return
        }
        let now = min(process.now, tid == pid ? scheduler.exitTime ?? process.now : process.now)
        takeLastSamples(of: thread)
        observer.close(thread, at: now)
        rename(thread)
        end(thread, at: now)
        if tid == pid {
            ledger.ended(process.counters())
            takeFinalCPU()
        }
    }

    /// To be called before the thread is gone, or has another program.
    func takeLastSamples(of thread: TracedThread) {
        guard thread.samples != nil || !thread.timing.slots.isEmpty,
            let counters = thread.counters()
        else { return }
        takeTimed(of: thread, counters)
        takeSamples(of: thread, counters)
    }

    private func executed(_ tid: Int32, at now: MonotonicTime) {
        guard let main = threads[pid] else { return }
        let former = (try? main.tracee.eventMessage()).map { Int32(truncatingIfNeeded: $0) }
        for thread in threads.values where thread.tid != pid {
            if thread.phase != .exited {
                takeLastSamples(of: thread)
                observer.closeWithoutStack(thread, at: now)
                end(thread, at: now)
            }
            threads[thread.tid] = nil
        }
        takeLastSamples(of: main)
        main.goOn()
        main.tracing.interruption?.callOff()
        reportHooks(at: now, isLast: true)
        if former == pid { main.reopen(at: now) } else { main.restartClock(at: now) }
        beginImage(at: now)
    }
}
