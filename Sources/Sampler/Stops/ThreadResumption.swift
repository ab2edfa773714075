import Agent
import Glibc
import ProcessIO
import ProfileModel

/// How stopped threads go on.
struct ThreadResumption: SessionPart {
    let context: SessionContext
    let requests: StopRequests

    /// Keeps a call going that would go on without us: a stop for us, or for a signal without a
    /// handler, must not end it. When the user stops the process and continues it, such calls end.
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
    /// - Parameter signal: the signal for which it has stopped.
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

    func resume(
        _ thread: TracedThread, stoppedSince: MonotonicTime, delivering signal: Int32 = 0
    ) {
        if thread.phase != .exited { thread.goOn() }
        release(thread, delivering: signal)
        observer.addHold(process.now - stoppedSince, to: thread)
        // Another stop took the place of the one that we asked for: ask again.
        if stage.hasMissedExec, thread.tid == pid { requests.interruptAnywhere(thread) }
    }

    /// Releases a stopped thread.
    func release(_ thread: TracedThread, delivering signal: Int32 = 0) {
        guard thread.tracing.isTraced else { return }
        // The thread will stop at once for that, and is released then.
        guard context.isFree, !callOffLateStop(thread) else {
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
}
