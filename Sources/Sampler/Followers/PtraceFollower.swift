import ProcessIO
import ProfileModel

/// Takes what ptrace reports of the threads.
struct PtraceFollower: SessionPart {
    let context: SessionContext
    let register: ThreadRegister
    let discovery: ThreadDiscovery
    let resumption: ThreadResumption
    let hookReports: HookReports
    let images: ImageBeginnings
    let closing: SessionClosing
    let agentJoin: AgentJoin

    func take(_ event: TraceEvent, of tid: Int32) {
        let now = process.now
        switch event {
        case .exited(let status):
            closing.ended(tid, .exited(status), at: now)
        case .killed(let signal):
            closing.ended(tid, .signalled(signal), at: now)
        case .executed:
            executed(tid, at: now)
        default:
            guard let thread = threads[tid] ?? discovery.adopt(tid, at: now) else { return }
            // A thread made by a traced thread is traced, too, even if we found it before its first
            // report.
            if !event.isSignal { thread.tracing.wasSeized() }
            resumption.keepCall(of: thread, after: event)
            take(event, of: thread, at: now)
        }
    }

    func take(_ event: TraceEvent, of thread: TracedThread, at now: MonotonicTime) {
        switch event {
        case .stopped:
            sampleAtStop(thread)
            if images.takeMissedExec(thread, at: now) { return }
            agentJoin.joinIfDue(by: thread, at: now)
            resumption.resume(thread, stoppedSince: now)
        case .cloned:
            sampleAtStop(thread)
            if let message = try? thread.tracee.eventMessage() {
                _ = discovery.adopt(Int32(truncatingIfNeeded: message), at: now)
            }
            resumption.resume(thread, stoppedSince: now)
        case .forked, .call:
            sampleAtStop(thread)
            resumption.resume(thread, stoppedSince: now)
        case .exiting:
            // An exec waits for the ends of all other threads. Before Linux 5.7 it locks the memory
            // meanwhile: a recorder that reads the memory before it lets a thread end would wait
            // for ever.
            closing.takeLastSamples(of: thread)
            if stage.execution == nil {
                _ = try? observer.sampleStopped(thread)
            } else {
                observer.closeWithoutStack(thread, at: now)
            }
            register.rename(thread)
            register.end(thread, at: now)
            leaveEnding(thread)
            // Done while the process gives up its memory: another process may be waiting for that.
            // The figures can be read until the process is reaped.
            if thread.tid == pid || threads.values.allSatisfy({ $0.phase == .exited }) {
                ledger.ended(process.counters())
                closing.takeFinalCPU()
            }
        case .signal where thread.tracing.interruption?.hasStopped == true:
            thread.tracing.forgetInterruption()
            take(.stopped, of: thread, at: now)
        case .signal(let number):
            if !thread.tracing.isTraced {
                process.releaseSelfTraced(thread.tid, delivering: number)
            }
            sampleAtStop(thread)
            resumption.resume(thread, stoppedSince: now, delivering: number)
        case .groupStop:
            thread.goOn()
            // A late stop can be awaited only if the thread is resumed.
            if context.isFree, !resumption.callOffLateStop(thread) {
                resumption.release(thread)
            } else {
                try? thread.tracee.listen()
            }
        case .exited, .killed, .executed:
            break
        }
    }

    /// Lets a thread end. If it stayed traced, it would not be gone until we have reaped it, and a
    /// thread that has joined it would find it still there. The process's own end is reported by
    /// its first thread.
    private func leaveEnding(_ thread: TracedThread) {
        let isLeft =
            thread.tid != pid && stage.execution == nil && (try? thread.tracing.detach()) != nil
        if !isLeft { try? thread.tracee.resume() }
    }

    /// Takes the sample for which the thread was interrupted, if it was. If the thread stops for
    /// another reason, the kernel does not report our stop as well.
    private func sampleAtStop(_ thread: TracedThread) {
        guard case .interrupted(let since) = thread.phase else { return }
        // This stop replaces the one that we asked for: no other one comes.
        thread.goOn()
        if context.isLeaving || (stage.hasMissedExec && thread.tid == pid) { return }
        // The thread has not moved since: take an exact copy of the stack that it had.
        if thread.blocked != nil, thread.counters()?.timeslices == thread.clock.counters.timeslices
        {
            try? observer.refine(thread)
        } else {
            _ = try? observer.sampleStopped(thread, stoppedSince: since)
        }
        thread.tracing.noteStop(cores: thread.counters()?.timeslices)
        thread.noteOurStop()
    }

    private func executed(_ tid: Int32, at now: MonotonicTime) {
        guard let main = threads[pid] else { return }
        let former = (try? main.tracee.eventMessage()).map { Int32(truncatingIfNeeded: $0) }
        for thread in threads.values where thread.tid != pid {
            if thread.phase != .exited {
                closing.takeLastSamples(of: thread)
                observer.closeWithoutStack(thread, at: now)
                register.end(thread, at: now)
            }
            context.threads.remove(thread.tid)
        }
        closing.takeLastSamples(of: main)
        main.goOn()
        main.tracing.interruption?.callOff()
        hookReports.reportHooks(at: now, isLast: true)
        if former == pid { main.reopen(at: now) } else { main.restartClock(at: now) }
        images.beginImage(at: now)
    }
}
