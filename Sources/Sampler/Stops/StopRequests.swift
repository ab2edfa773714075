import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Asks threads to stop, where that does no harm.
struct StopRequests: SessionPart {
    let context: SessionContext
    let timerWatch: TimerWatch

    /// Leaves the thread alone this time, because it could be harmed.
    func spare(_ thread: TracedThread) {
        context.note(.spared)
        thread.leaveAlone()
    }

    /// Stops a running thread for its registers, unless that could harm others.
    func stopForSample(_ thread: TracedThread) {
        if mayHarmOthers(thread) { spare(thread) } else { stop(thread) }
    }

    func stop(_ thread: TracedThread) {
        if !thread.tracing.isTraced {
            // Attached, our code comes in by a stop.
            let mayBeTraced = stage.isSettling || stage.image?.mayBeTraced != false
            guard mayBeTraced, !isInDoubt(thread) else { return spare(thread) }
            guard thread.tracing.seize() else { return }
        }
        interrupt(thread)
    }

    /// Whether a stop of it could end other threads' waits: see ``RecentForks``.
    func mayHarmOthers(_ thread: TracedThread) -> Bool {
        threads.count > 1 && (hasForkedLately(thread) || context.looksForChildren > 0)
    }

    private func hasForkedLately(_ thread: TracedThread) -> Bool {
        thread.lookForForks(at: process.now)
    }

    /// Looks for threads that fork. In a program that runs already, these show only after some
    /// looks, because their children may live only for a moment. Until that is known, any thread
    /// may be one.
    func lookForChildren() {
        guard context.looksForChildren > 0 else { return }
        for thread in threads.values { _ = hasForkedLately(thread) }
        context.looksForChildren -= 1
    }

    /// Stops a blocked thread that is still traced for nothing, if the stop does not end its call.
    /// The stop detaches it.
    func detachBlocked(_ thread: TracedThread) {
        guard context.isTracedForNothing(thread), let blocked = thread.blocked,
            blocked.position.systemCall >= 0, blocked.kind < .fragile, !mayHarmOthers(thread)
        else { return }
        interrupt(thread)
    }

    /// Asks a thread to stop. A running thread is stopped in its own code if that is possible,
    /// where stops are not the rule or could end one of its calls.
    func interrupt(_ thread: TracedThread) {
        // The two signals would be one.
        timerWatch.endTimer(of: thread)
        if thread.tracing.isLed { return interruptAnywhere(thread) }
        // As it is now: it may have begun to wait since the last look.
        if case .blocked(let call, let registers) = thread.activity(), call >= 0 {
            if endsNoCall(call, registers) { interruptAnywhere(thread) }
        } else if let late = thread.tracing.interruption, late.isCalledOff, late.isOnItsWay {
            // One that was called off too late stands for it.
            thread.wasAsked(at: process.now)
        } else if context.capture == .signal || thread.burst.hasWaitedFragile {
            interruptInOwnCode(thread)
        } else {
            interruptAnywhere(thread)
        }
    }

    /// Whether a signal that stops the thread in its own code could surface in one of its sigwait
    /// calls. Nobody can tell whether it waits in one. That shows as soon as it has had a core.
    func isInDoubt(_ thread: TracedThread) -> Bool {
        guard !thread.tracing.isLed, context.capture == .signal || thread.burst.hasWaitedFragile,
            case .running = thread.activity()
        else { return false }
        return !thread.readMask() && someBlockOurs
    }

    /// Whether a thread whose own mask is not known may have inherited one that blocks our signals.
    /// A program that waits for signals in one thread blocks them in the others, too.
    var someBlockOurs: Bool {
        threads.values.contains { thread in
            thread.statuses.hasBlockedOurs
                || thread.tid == pid && thread.status()?.blocksOurs == true
        }
    }

    private func interruptInOwnCode(_ thread: TracedThread) {
        guard !isInDoubt(thread) else { return }
        do throws(NoInterruption) {
            try thread.tracing.interruptInOwnCode(each: interruptionPeriod)
            thread.wasAsked(at: process.now)
        } catch {
            let isHarmless =
                switch error {
                // Events have told what it does.
                case .signalsAreBlocked: thread.calls.isComputing
                case .eventsAreRefused: !mayMeetLongCall(thread, at: process.now)
                }
            if isHarmless || context.capture == .ptrace { interruptAnywhere(thread) }
        }
    }

    /// Whether a signal or a stop may find the thread in a call that then returns only a part of
    /// what was asked for. Needed where no events tell what a thread does.
    func mayMeetLongCall(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        thread.calls.mayMeetLongCall(at: now) || context.endlessFiles.areOpen(at: now)
    }

    /// At the end only one more stop can be had, and a thread that works for a few microseconds at
    /// a time must be met in them.
    private var interruptionPeriod: TimeSpan {
        TimeSpan(nanoseconds: context.isClosed ? 20_000 : 100_000)
    }

    func interruptAnywhere(_ thread: TracedThread) {
        let now = process.now
        if (try? thread.tracee.interrupt()) != nil { thread.wasAsked(at: now) }
    }

    /// Calls off stops that are late: nobody waits for them, and what the threads do meanwhile is
    /// not sampled.
    func callOffLateStops(at now: MonotonicTime) {
        for thread in threads.values where thread.tracing.interruption?.isCalledOff == false {
            guard case .interrupted(let since) = thread.phase, now - since > Self.ownCodePatience
            else { continue }
            callOffStop(of: thread)
            spare(thread)
        }
    }

    private static var ownCodePatience: TimeSpan { .milliseconds(50) }

    /// Stops a blocked thread for its registers, if it is still where it was, and if the stop does
    /// not end the call in which it waits.
    func refine(_ refinement: StackRefinement) {
        guard let thread = threads.values.first(where: { $0.index == refinement.thread }),
            thread.phase == .free, let blocked = thread.blocked,
            blocked.serial == refinement.blocking, !thread.isRefined,
            blocked.position.systemCall >= 0, blocked.kind < .fragile,
            // Where threads take turns, the last look at it may be long ago.
            thread.counters()?.timeslices == thread.clock.counters.timeslices,
            stage.image?.mayBeTraced != false, !mayHarmOthers(thread)
        else { return }
        stop(thread)
    }

    /// Whether a stop of a thread that waits in this call lets the call go on afterwards.
    func endsNoCall(_ call: Int32, _ registers: Registers) -> Bool {
        call >= 0 && RestartingCalls.kind(of: call, registers, process: pid) < .fragile
    }

    /// Lets a thread go on that was asked to stop in its own code, but stays in the kernel's.
    func callOffStop(of thread: TracedThread) {
        guard let interruption = thread.tracing.interruption, thread.isInterrupted else { return }
        interruption.callOff()
        thread.goOn()
    }
}
