import Agent
import Architecture
import ProcessIO
import ProfileModel
import Runtimes

/// Takes the stacks of running threads in the way that ``CapturePolicy`` chooses.
extension ProcessSession {
    func followRequest(of thread: TracedThread, _ counters: SchedulerCounters) -> Bool {
        signalCapture?.followRequest(of: thread, counters) == true
    }

    func takeAnswer(of thread: TracedThread, _ counters: SchedulerCounters) {
        takeTimed(of: thread, counters)
        guard let answer = signalCapture?.answer(of: thread) else { return }
        if answer.isOnAlternateStack {
            thread.stack.saw(answer.registers.stackPointer)
            thread.stack.sawAlternate()
            endEvents(of: thread)
            stopForSample(thread)
        } else {
            thread.saw(answer.registers, at: answer.time)
            let frames = observer.interpreters.checked(
                answer.frames, of: thread.tid, ran: answer.cpu, at: answer.time...answer.time)
            observer.sample(answer, of: thread, counters, frames: frames)
        }
    }

    /// Takes a running thread's stack, in the way that harms it least.
    func captureRunning(
        _ thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        if isSampledByTree(thread), !wantsTimer(thread) { return }
        guard let status = recentStatus(of: thread, counters) else { return }
        let hasWaited = thread.burst.hasWaited(voluntary: status.voluntary)
        let running = RunningThread(
            thread: thread, session: self, status: status, counters: counters,
            approach: thread.approach(voluntary: status.voluntary, at: now),
            hasWaited: hasWaited, now: now)
        if running.needsStop { endTimer(of: thread) }
        var failed = FailedWays()
        while let way = CapturePolicy.decide(running, without: failed) {
            if capture(running, way) { return }
            failed.insert(way)
        }
    }

    /// Whether events of the process's tree tell what it does. Of an interpreter's functions they tell too late.
    func isSampledByTree(_ thread: TracedThread) -> Bool {
        tree != nil && thread.samples != nil && thread.timing.timer == nil
    }

    /// - Returns: false: this way cannot be had.
    private func capture(_ running: RunningThread, _ way: CaptureWay) -> Bool {
        let thread = running.thread
        switch way {
        case .timer:
            return sampleByTimer(thread, running.status, running.counters, at: running.now)
        case .events:
            return sampleByEvents(thread, running.hasWaited ? nil : running.counters)
        case .signal: return ask(running)
        case .stop:
            noteObstacle(running)
            stop(thread)
        case .spare:
            noteObstacle(running)
            spare(thread)
        }
        return true
    }

    /// Whether a handler of the program's may hold our signal back until it returns. Then it is
    /// unknown whether the handler or our signal has ended a call, and the call is not made again.
    var handlersBlock: Bool { instrumentation?.area.handlersBlock == true }

    /// Leaves the thread alone this time, because it could be harmed.
    private func spare(_ thread: TracedThread) {
        note(.spared)
        thread.leaveAlone()
    }

    private func recentStatus(
        of thread: TracedThread, _ counters: SchedulerCounters
    ) -> ThreadStatus? {
        guard let instrumentation, let signals = instrumentation.signals else {
            return thread.status()
        }
        let masks = signals.slots.masks
        // In this order: whoever is counted by now is seen to be about to, or was.
        let isMasking = signals.slots.lookForMasking()
        thread.statuses.saw(
            masks: masks, isMasking: isMasking,
            mayChange: instrumentation.masks.look(at: masks, threads: threads.count))
        return thread.recentStatus(
            counters, looks: signals.looksPerStatus(seesMasks: instrumentation.seesMasks))
    }

    /// Whether a thread whose own mask is not known may have inherited one that blocks our signals.
    /// A program that waits for signals in one thread blocks them in the others, too.
    var someBlockOurs: Bool {
        threads.values.contains { thread in
            thread.statuses.hasBlockedOurs
                || thread.tid == pid && thread.status()?.blocksOurs == true
        }
    }

    /// Whether a thread can have a timer, whose signal finds it in its own code. Its stack must have room,
    /// and no thread of the process may have been seen on one that the program made itself.
    func canBeTimed(_ thread: TracedThread, _ status: ThreadStatus) -> Bool {
        guard let signals = signalCapture else { return false }
        return signals.obstacle(thread, status, hasRoom: hasRoomForSignal(thread)) == nil
    }

    /// Whether a signal's frame may go to the stack that a thread was seen on last.
    func hasRoomForSignal(_ thread: TracedThread) -> Bool {
        let place = observer.stackPlace(of: thread)
        if place.isForeign { stage.image?.hasOtherStacks = true }
        noteRoom(of: thread, place)
        return place.hasRoom && !thread.stack.lacksRoom && stage.image?.hasOtherStacks != true
    }

    private func ask(_ running: RunningThread) -> Bool {
        guard let signalCapture else { return false }
        let thread = running.thread
        let isAsked = signalCapture.ask(
            thread, running.status, observer.stackPlace(of: thread), running.counters,
            frames: frames(of: thread, by: signalCapture))
        if isAsked { thread.requests.endDetours() }
        return isAsked
    }

    /// Asks now and then whether a thread was ever near its stack's end.
    private func noteRoom(of thread: TracedThread, _ place: StackPlace) {
        guard place.hasRoom, !thread.stack.lacksRoom, thread.stack.countRequest() else { return }
        if process.hasUsed(place.lastRoom) { thread.stack.sawEnd() }
    }

    /// Where an interpreter has the thread's state, if our code in the program can follow its lists.
    func frames(of thread: TracedThread, by signals: SignalCapture) -> UInt64? {
        guard let interpreter = observer.interpreters.interpreter,
            signals.slots.frameList != nil || signals.slots.copyFrames(of: interpreter.layout)
        else { return nil }
        return observer.interpreters.state(of: thread.tid, at: process.now)
    }

    /// What keeps a thread from being asked by signal, which would be its way. If it lasts long, it is worth
    /// a note.
    private func noteObstacle(_ running: RunningThread) {
        guard CapturePolicy.asks(running) else { return }
        let obstacle = running.obstacle ?? .slotsExhausted
        running.thread.requests.noteDetour()
        switch obstacle {
        case .displaced, .filtered: ledger.note(obstacle, 1)
        default: if running.thread.requests.detours == SignalCapture.patience { note(obstacle) }
        }
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
        threads.count > 1 && (hasForkedLately(thread) || looksForChildren > 0)
    }

    private func hasForkedLately(_ thread: TracedThread) -> Bool {
        thread.lookForForks(at: process.now)
    }

    /// Looks for threads that fork. In a program that runs already, these show only after some
    /// looks, because their children may live only for a moment. Until that is known, any thread
    /// may be one.
    func lookForChildren() {
        guard looksForChildren > 0 else { return }
        for thread in threads.values { _ = hasForkedLately(thread) }
        looksForChildren -= 1
    }

    /// Stops a blocked thread that is still traced for nothing, if the stop does not end its call.
    /// The stop detaches it.
    func detachBlocked(_ thread: TracedThread) {
        guard isTracedForNothing(thread), let blocked = thread.blocked,
            blocked.position.systemCall >= 0, blocked.kind < .fragile, !mayHarmOthers(thread)
        else { return }
        interrupt(thread)
    }

    /// Asks a thread to stop. A running thread is stopped in its own code if that is possible,
    /// where stops are not the rule or could end one of its calls.
    func interrupt(_ thread: TracedThread) {
        // The two signals would be one.
        endTimer(of: thread)
        if thread.tracing.isLed { return interruptAnywhere(thread) }
        // As it is now: it may have begun to wait since the last look.
        if case .blocked(let call, let registers) = thread.activity(), call >= 0 {
            if endsNoCall(call, registers) { interruptAnywhere(thread) }
        } else if let late = thread.tracing.interruption, late.isCalledOff, late.isOnItsWay {
            // One that was called off too late stands for it.
            thread.wasAsked(at: process.now)
        } else if capture == .signal || thread.burst.hasWaitedFragile {
            interruptInOwnCode(thread)
        } else {
            interruptAnywhere(thread)
        }
    }

    /// Whether a signal that stops the thread in its own code could surface in one of its sigwait
    /// calls. Nobody can tell whether it waits in one. That shows as soon as it has had a core.
    func isInDoubt(_ thread: TracedThread) -> Bool {
        guard !thread.tracing.isLed, capture == .signal || thread.burst.hasWaitedFragile,
            case .running = thread.activity()
        else { return false }
        return !thread.readMask() && someBlockOurs
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
            if isHarmless || capture == .ptrace { interruptAnywhere(thread) }
        }
    }

    /// Whether a signal or a stop may find the thread in a call that then returns only a part of
    /// what was asked for. Needed where no events tell what a thread does.
    func mayMeetLongCall(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        thread.calls.mayMeetLongCall(at: now) || endlessFiles.areOpen(at: now)
    }

    /// At the end only one more stop can be had, and a thread that works for a few microseconds at
    /// a time must be met in them.
    private var interruptionPeriod: TimeSpan { TimeSpan(nanoseconds: isClosed ? 20_000 : 100_000) }

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
}

/// Whether what is known of signal masks is still true: threads announce that they are about to change
/// theirs.
struct MaskStaleness {
    private var announced: UInt32 = 0
    private var looks = 0

    /// Looks whether what is known of masks may be out of date. Masks change a moment after their change
    /// was announced.
    ///
    /// - Parameter count: the number of announcements so far.
    /// - Returns: whether it may.
    mutating func look(at count: UInt32, threads: Int) -> Bool {
        if count != announced { (announced, looks) = (count, 8 * threads) }
        looks = max(0, looks - 1)
        return looks > 0
    }
}
