import ProcessIO
import ProfileModel

/// Stops threads, and waits until they have stopped.
struct ThreadStopper: SessionPart {
    let context: SessionContext
    let harm: StopHarm
    let discovery: ThreadDiscovery
    let timerEnds: TimerEnds
    let requests: StopRequests
    let resumption: ThreadResumption

    /// How long we wait for a stop. A thread that waits in the kernel for something else (vfork, a
    /// file system that does not answer) stops only when that is over.
    static let stopPatience = TimeSpan.milliseconds(500)

    /// Stops all other running threads, so that code can be changed under them.
    ///
    /// - Parameter thread: a stopped thread; nil: there is none.
    /// - Returns: the threads that were stopped. nil: a running one could not be stopped, and all
    ///   are released.
    func stopOthers(than thread: TracedThread?) -> [TracedThread]? {
        let deadline = process.now + Self.stopPatience
        let running = threads.values.filter { $0.tid != thread?.tid && isRunning($0) }
        let forking = running.filter(harm.mayHarmOthers)
        var stopped = forking.filter { stopBetweenChildren($0, by: deadline) != nil }
        // A thread that waits now, for a child say, is as good as stopped.
        let others = running.filter { other in
            !forking.contains { $0.tid == other.tid } && isRunning(other)
        }
        let areStopped =
            stopAtOnce(others, by: deadline, &stopped)
            && forking.allSatisfy { thread in
                if stopped.contains(where: { $0.tid == thread.tid }) { return true }
                guard stopBetweenChildren(thread, by: deadline) != nil else {
                    return !isRunning(thread)
                }
                stopped.append(thread)
                return true
            }
        if areStopped { return stopped }
        for other in stopped { resumption.release(other) }
        return nil
    }

    /// Stops all of these threads at once: each may have to wait for a core, and threads that have
    /// stopped stay stopped meanwhile.
    ///
    /// - Parameter stopped: gets the threads that were stopped.
    /// - Returns: false: a running one could not be stopped.
    private func stopAtOnce(
        _ others: [TracedThread], by deadline: MonotonicTime, _ stopped: inout [TracedThread]
    ) -> Bool {
        context.awaited = Set(others.map(\.tid))
        for other in others where !other.isInterrupted { requests.stop(other) }
        defer { context.awaited = [] }
        for other in others {
            context.awaited.remove(other.tid)
            if stopNow(other, by: deadline) != nil, keepWithoutChild(other, by: deadline) {
                stopped.append(other)
            } else if isRunning(other) {
                for other in others where other.tracing.endHold() {
                    stopped.append(other)
                }
                for other in others { requests.callOffStop(of: other) }
                return false
            }
        }
        return true
    }

    /// Stops a thread that forks at a moment at which none of its children can end, if such a
    /// moment comes soon: see ``RecentForks``.
    private func stopBetweenChildren(
        _ thread: TracedThread, by deadline: MonotonicTime
    ) -> UInt64? {
        for patience in [200, 400, 800, 1600, 3200] {
            // Its children may do harm as soon as the thread is asked to stop, and the stop may
            // take a while.
            context.wait(atMost: TimeSpan(nanoseconds: Int64(patience) * 1000), every: 50) {
                thread.hasNoChild || !isRunning(thread)
            }
            guard process.now < deadline, isRunning(thread) else { return nil }
            guard thread.hasNoChild else { continue }
            guard let position = stopNow(thread, by: deadline) else { return nil }
            if thread.hasNoChild { return position }
            resumption.release(thread)
        }
        // Some children live on.
        return stopNow(thread, by: deadline)
    }

    /// ``stopNow(_:by:)`` for a thread that may fork.
    func stopHarmlessly(_ thread: TracedThread, by deadline: MonotonicTime? = nil) -> UInt64? {
        guard harm.mayHarmOthers(thread) else { return stopNow(thread, by: deadline) }
        return stopBetweenChildren(thread, by: deadline ?? process.now + Self.stopPatience)
    }

    /// Checks a stopped thread, which may just have forked.
    ///
    /// - Returns: whether it stays stopped.
    private func keepWithoutChild(_ thread: TracedThread, by deadline: MonotonicTime) -> Bool {
        if thread.hasNoChild || !harm.mayHarmOthers(thread) { return true }
        resumption.release(thread)
        return stopBetweenChildren(thread, by: deadline) != nil
    }

    /// Stops all threads that run. nil: one could not be stopped, so all run on.
    func stopRunning(by deadline: MonotonicTime) -> [TracedThread]? {
        var stopped: [TracedThread] = []
        for thread in threads.values where isRunning(thread) {
            if stopNow(thread, by: deadline) != nil {
                stopped.append(thread)
            } else if isRunning(thread) {
                for thread in stopped { resumption.release(thread) }
                return nil
            }
        }
        return stopped
    }

    /// As ``stopOthers(than:)``, also for threads that began since the last look.
    func stopAllOthers(than thread: TracedThread) -> [TracedThread]? {
        var stopped: [TracedThread] = []
        repeat {
            discovery.addNewThreads(at: process.now)
            guard let more = stopOthers(than: thread) else {
                for other in stopped { resumption.release(other) }
                return nil
            }
            stopped += more
        } while !discovery.knowsAllThreads
        return stopped
    }

    func isRunning(_ thread: TracedThread) -> Bool {
        // A thread that was asked to stop for a sample may have done so; then its stop must be
        // taken.
        if thread.isInterrupted { return true }
        guard thread.phase == .free, case .running = thread.activity() else { return false }
        return true
    }

    /// Stops a thread and waits until it has stopped. Signals to it are passed on.
    ///
    /// - Parameter deadline: nil: the usual patience.
    /// - Returns: the address at which it would continue.
    func stopNow(_ thread: TracedThread, by deadline: MonotonicTime? = nil) -> UInt64? {
        let start = process.now
        let deadline = deadline ?? start + Self.stopPatience
        // Wait before the thread is traced: while it is traced, others may be woken for nothing.
        if !thread.tracing.isTraced {
            guard waitForCertainty(thread, by: deadline), thread.tracing.seize() else { return nil }
        }
        if thread.tracing.endHold() {
            return try? thread.tracee.resumeAddress()
        }
        let wasAwaitingStop = context.isAwaitingStop
        context.isAwaitingStop = true
        defer { context.isAwaitingStop = wasAwaitingStop }
        while thread.tracing.isTraced, thread.phase != .exited, context.postponed == nil {
            if let report = process.nextReport(of: thread.tid) {
                guard let event = report.event else { return nil }
                resumption.keepCall(of: thread, after: event)
                if takeOurStop(event, of: thread) {
                    thread.goOn()
                    return try? thread.tracee.resumeAddress()
                }
                switch event {
                case .signal(let number):
                    // Any other stop takes the place of ours: it is asked for again.
                    thread.tracing.interruption?.callOff()
                    thread.goOn()
                    try? thread.tracee.resume(delivering: number)
                case .groupStop:
                    context.receiver?.take(event, of: thread.tid)
                    return nil
                default: takeMeanwhile(event, of: thread.tid)
                }
            } else if !thread.isInterrupted {
                // If it is asked to stop when it has stopped already, it stops twice.
                requests.interrupt(thread)
                let mayShow =
                    !thread.isInterrupted && process.now < deadline && harm.isInDoubt(thread)
                guard thread.isInterrupted || mayShow && waitForCertainty(thread, by: deadline)
                else { return nil }
            } else {
                let isLate = context.isCalledOff && process.now - start > Self.turn
                guard process.now < deadline, !isLate, expectStop(thread) else {
                    requests.callOffStop(of: thread)
                    return nil
                }
                serveAll(but: thread)
                context.pause(microseconds: 20)
            }
        }
        return nil
    }

    /// Waits until it is certain that a thread can be stopped without harm: see ``StopHarm/isInDoubt(_:)``.
    ///
    /// - Returns: false: it is not certain by the deadline.
    private func waitForCertainty(_ thread: TracedThread, by deadline: MonotonicTime) -> Bool {
        let start = process.now
        return context.wait(atMost: max(.zero, deadline - start)) {
            if !harm.isInDoubt(thread) { return true }
            serveAll(but: thread)
            return context.isCalledOff && process.now - start > Self.turn
        } && !harm.isInDoubt(thread)
    }

    /// - Returns: whether the thread's stop is still to come. A thread that waits now will not run
    ///   its own code, so it is stopped in its wait, if that ends no call. A diverted thread is in
    ///   a call of ours.
    private func expectStop(_ thread: TracedThread) -> Bool {
        guard !thread.tracing.isLed, let interruption = thread.tracing.interruption,
            !interruption.isCalledOff,
            case .blocked(let call, let registers) = thread.activity(),
            // Otherwise it waits for a page, or has just stopped.
            call >= 0
        else { return true }
        interruption.callOff()
        return harm.endsNoCall(call, registers) && (try? thread.tracee.interrupt()) != nil
    }

    /// Serves the other threads meanwhile, because the thread may wait for them: an exec waits for
    /// the ends of all other threads, and each of these stops once more.
    func serveAll(but thread: TracedThread? = nil) {
        timerEnds.watchTimers()
        for other in threads.values where other.tracing.isTraced && other.tid != thread?.tid {
            guard let event = process.nextReport(of: other.tid)?.event else { continue }
            if context.awaited.contains(other.tid), takeOurStop(event, of: other) {
                resumption.keepCall(of: other, after: event)
                other.goOn()
                other.tracing.hold()
            } else {
                takeMeanwhile(event, of: other.tid)
            }
        }
    }

    /// - Returns: whether a thread has stopped because it was asked to. If it was asked to stop in
    ///   its own code, that request is then over.
    private func takeOurStop(_ event: TraceEvent, of thread: TracedThread) -> Bool {
        if event == .stopped { return true }
        guard event.isSignal, thread.tracing.interruption?.hasStopped == true
        else { return false }
        thread.tracing.forgetInterruption()
        return true
    }

    /// Takes an event, but postpones an exec: another program must not begin while we change this
    /// one.
    func takeMeanwhile(_ event: TraceEvent, of tid: Int32) {
        if event == .executed {
            context.postponed = event
        } else {
            context.receiver?.take(event, of: tid)
        }
    }

    /// How long to try stopping one thread, if another will do as well.
    static let turn = TimeSpan.milliseconds(20)
}
