import Architecture
import ProcessIO
import ProfileModel

/// Asks threads to stop, where that does no harm.
struct StopRequests: SessionPart {
    let context: SessionContext
    let harm: StopHarm
    let timerEnds: TimerEnds

    /// Leaves the thread alone this time, because it could be harmed.
    func spare(_ thread: TracedThread) {
        note(.spared)
        thread.leaveAlone()
    }

    /// Stops a running thread for its registers, unless that could harm others.
    func stopForSample(_ thread: TracedThread) {
        if harm.mayHarmOthers(thread) { spare(thread) } else { stop(thread) }
    }

    func stop(_ thread: TracedThread) {
        if !thread.tracing.isTraced {
            // In an attached program, our code comes in by a stop.
            let mayBeTraced = stage.isSettling || stage.image?.mayBeTraced != false
            guard mayBeTraced, !harm.isInDoubt(thread) else { return spare(thread) }
            guard thread.tracing.seize() else { return }
        }
        interrupt(thread)
    }

    /// Stops a blocked thread that is still traced for nothing, if the stop does not end its call.
    /// The stop detaches it.
    func detachBlocked(_ thread: TracedThread) {
        guard context.isTracedForNothing(thread), let blocked = thread.blocked,
            blocked.position.systemCall >= 0, blocked.kind < .fragile, !harm.mayHarmOthers(thread)
        else { return }
        interrupt(thread)
    }

    /// Asks a thread to stop. A running thread is stopped in its own code if that is possible,
    /// where stops are not the rule or could end one of its calls.
    func interrupt(_ thread: TracedThread) {
        // The kernel would merge the two signals.
        timerEnds.endTimer(of: thread)
        if thread.tracing.isLed { return interruptAnywhere(thread) }
        // Its present state: it may have begun to wait since the last look.
        if case .blocked(let call, let registers) = thread.activity(), call >= 0 {
            if harm.endsNoCall(call, registers) { interruptAnywhere(thread) }
        } else if let late = thread.tracing.interruption, late.isCalledOff, late.isOnItsWay {
            // A stop that was called off too late takes the place of this one.
            thread.wasAsked(at: process.now)
        } else if context.capture == .untraced || thread.burst.hasWaitedFragile {
            interruptInOwnCode(thread)
        } else {
            interruptAnywhere(thread)
        }
    }

    private func interruptInOwnCode(_ thread: TracedThread) {
        guard !harm.isInDoubt(thread) else { return }
        do throws(NoInterruption) {
            try thread.tracing.interruptInOwnCode(each: interruptionPeriod)
            thread.wasAsked(at: process.now)
        } catch {
            let isHarmless =
                switch error {
                // Events have shown whether it computes.
                case .signalsAreBlocked: thread.calls.isComputing
                case .eventsAreRefused: !harm.mayMeetLongCall(thread, at: process.now)
                }
            if isHarmless || context.capture == .ptrace { interruptAnywhere(thread) }
        }
    }

    /// At the end only one more stop is possible, and it must hit a thread that works for a few
    /// microseconds at a time.
    private var interruptionPeriod: TimeSpan {
        TimeSpan(nanoseconds: context.isClosed ? 20_000 : 100_000)
    }

    func interruptAnywhere(_ thread: TracedThread) {
        let now = process.now
        if (try? thread.tracee.interrupt()) != nil { thread.wasAsked(at: now) }
    }

    /// Calls off stops that are late: nothing waits for them, and the threads' activity meanwhile
    /// is not sampled.
    func callOffLateStops(at now: MonotonicTime) {
        for thread in threads.values where thread.tracing.interruption?.isCalledOff == false {
            guard case .interrupted(let since) = thread.phase, now - since > Self.ownCodePatience
            else { continue }
            callOffStop(of: thread)
            spare(thread)
        }
    }

    private static var ownCodePatience: TimeSpan { .milliseconds(50) }

    /// Stops a blocked thread for its registers, if it is still in the same place, and if the stop
    /// does not end the call in which it waits.
    func refine(_ refinement: StackRefinement) {
        guard let thread = threads.values.first(where: { $0.index == refinement.thread }),
            thread.phase == .free, let blocked = thread.blocked,
            blocked.serial == refinement.blocking, !thread.isRefined,
            blocked.position.systemCall >= 0, blocked.kind < .fragile,
            // Where threads take turns, the last look at it may be long ago.
            thread.counters()?.timeslices == thread.clock.counters.timeslices,
            stage.image?.mayBeTraced != false, !harm.mayHarmOthers(thread)
        else { return }
        stop(thread)
    }

    /// Calls off the stop of a thread that should stop in its own code, but stays in the kernel's.
    func callOffStop(of thread: TracedThread) {
        guard let interruption = thread.tracing.interruption, thread.isInterrupted else { return }
        interruption.callOff()
        thread.goOn()
    }
}
