import ProcessIO
import ProfileModel

/// Closes the accounts of threads and of the process.
struct SessionClosing: SessionPart {
    let context: SessionContext
    let register: ThreadRegister
    let signposts: SignpostReports
    let schedule: ScheduleReports
    let timerEnds: TimerEnds
    let timerStacks: TimerStacks
    let eventStacks: EventStacks
    let hookReports: HookReports

    func ended(_ tid: Int32, _ how: Recording.Outcome, at now: MonotonicTime) {
        if tid == pid {
            hookReports.reportHooks(at: now, isLast: true)
        } else {
            signposts.reportSignposts(at: now, isLast: false)
        }
        if let thread = context.threads.remove(tid), thread.phase != .exited, !context.isClosed {
            // Killed without an exit event, or not traced: its last stack is gone with it.
            if thread.tracing.isTraced { observer.closeWithoutStack(thread, at: now) }
            register.end(thread, at: now)
            signalCapture?.forget(thread)
        }
        if tid == pid {
            closeAll(at: now)
            stage.end(how)
        }
    }

    func closeAll(at now: MonotonicTime) {
        guard context.close() else { return }
        observer.end = now
        hookReports.reportHooks(at: now, isLast: true)
        schedule.reportSchedule(isLast: true)
        for thread in threads.values where thread.phase != .exited {
            // The last activity of a thread that ended unseen is unknown.
            let isReadable = thread.blocked != nil || thread.counters() != nil
            takeLastSamples(of: thread)
            if isReadable { observer.close(thread, at: now) }
            register.rename(thread)
            ledger.ended(thread, interval: options.sampleInterval)
            sink.receive(.threadEnded(thread.index, isReadable ? now : thread.clock.time))
        }
        timerEnds.endTimers()
        sink.receive(
            .border(
                LaunchBorder(
                    kind: .ended, time: min(now, context.scheduler.exitTime ?? now),
                    counters: ledger.finalCounters ?? process.counters())))
    }

    /// To be called while the process's figures can still be read: its CPU time, and whether it started
    /// processes that were not recorded.
    func takeFinalCPU() {
        ledger.ended(process.cpu)
        guard context.isOurChild, !options.followsChildren else { return }
        let faults = process.childrenFaults
        if faults > 0 { ledger.note(.unrecordedChildren, faults) }
    }

    /// To be called before the thread executes another program.
    func takeLastSamples(of thread: TracedThread) {
        guard thread.samples != nil || !thread.timing.slots.isEmpty else { return }
        // If the thread is gone, its samples show how long it ran.
        let counters = thread.counters() ?? thread.clock.counters
        timerStacks.takeTimed(of: thread, counters)
        eventStacks.takeSamples(of: thread, counters)
    }

    /// Reads the last figures of a thread that has ended; they can be read until it is reaped. If
    /// it was stopped before, they are known.
    func readLastFigures(of tid: Int32) {
        guard context.tree != nil, context.tracesChildren, let thread = threads[tid],
            thread.phase != .exited,
            !context.isClosed
        else {
            return
        }
        let now = min(
            process.now, tid == pid ? context.scheduler.exitTime ?? process.now : process.now)
        takeLastSamples(of: thread)
        observer.close(thread, at: now)
        register.rename(thread)
        register.end(thread, at: now)
        if tid == pid {
            ledger.ended(process.counters())
            takeFinalCPU()
        }
    }
}
