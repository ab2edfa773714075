import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Stops that we wait for.
extension ProcessSession {
    /// How long we wait for a stop. A thread that waits in the kernel for something else (vfork, a
    /// file system that does not answer) stops only when that is over.
    static let stopPatience = TimeSpan.milliseconds(500)

    /// Stops all other running threads, so that code can be changed under them.
    ///
    /// - Parameter thread: a stopped thread; nil: there is none.
    /// - Returns: the threads that were stopped. nil: a running one could not be stopped, and all
    ///   go on.
    func stopOthers(than thread: TracedThread?) -> [TracedThread]? {
        let deadline = process.now + Self.stopPatience
        let running = threads.values.filter { $0.tid != thread?.tid && isRunning($0) }
        let forking = running.filter(mayHarmOthers)
        var stopped = forking.filter { stopBetweenChildren($0, by: deadline) != nil }
        // Who waits by now, for a child say, is as good as stopped.
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
        for other in stopped { release(other) }
        return nil
    }

    /// Stops all of them at once, because each may have to wait for a core, and those that have
    /// stopped stand meanwhile.
    ///
    /// - Parameter stopped: gets those that were stopped.
    /// - Returns: false: a running one could not be stopped.
    private func stopAtOnce(
        _ others: [TracedThread], by deadline: MonotonicTime, _ stopped: inout [TracedThread]
    ) -> Bool {
        awaited = Set(others.map(\.tid))
        for other in others where !other.isInterrupted { stop(other) }
        defer { awaited = [] }
        for other in others {
            awaited.remove(other.tid)
            if stopNow(other, by: deadline) != nil, keepWithoutChild(other, by: deadline) {
                stopped.append(other)
            } else if isRunning(other) {
                for other in others where other.tracing.endHold() {
                    stopped.append(other)
                }
                for other in others { callOffStop(of: other) }
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
            // As soon as it is asked to stop, its children may do harm, and it may take a while.
            wait(atMost: TimeSpan(nanoseconds: Int64(patience) * 1000), every: 50) {
                thread.hasNoChild || !isRunning(thread)
            }
            guard process.now < deadline, isRunning(thread) else { return nil }
            guard thread.hasNoChild else { continue }
            guard let position = stopNow(thread, by: deadline) else { return nil }
            if thread.hasNoChild { return position }
            release(thread)
        }
        // Some children live on.
        return stopNow(thread, by: deadline)
    }

    /// ``stopNow(_:by:)`` for a thread that may fork.
    func stopHarmlessly(_ thread: TracedThread, by deadline: MonotonicTime? = nil) -> UInt64? {
        guard mayHarmOthers(thread) else { return stopNow(thread, by: deadline) }
        return stopBetweenChildren(thread, by: deadline ?? process.now + Self.stopPatience)
    }

    /// Checks a stopped thread, which may just have forked.
    ///
    /// - Returns: whether it stays stopped.
    private func keepWithoutChild(_ thread: TracedThread, by deadline: MonotonicTime) -> Bool {
        if thread.hasNoChild || !mayHarmOthers(thread) { return true }
        release(thread)
        return stopBetweenChildren(thread, by: deadline) != nil
    }

    /// The same for all threads, also for those that began since the last look.
    func stopAllOthers(than thread: TracedThread) -> [TracedThread]? {
        var stopped: [TracedThread] = []
        repeat {
            addNewThreads(at: process.now)
            guard let more = stopOthers(than: thread) else {
                for other in stopped { release(other) }
                return nil
            }
            stopped += more
        } while !knowsAllThreads
        return stopped
    }

    /// Whether no thread began since the last look. It counts on ``threads`` to hold every thread.
    var knowsAllThreads: Bool { process.threadIDs().allSatisfy { threads[$0] != nil } }

    func isRunning(_ thread: TracedThread) -> Bool {
        // One that was asked to stop for a sample may have done so, and must be taken note of.
        if thread.isInterrupted { return true }
        guard thread.phase == .free, case .running = thread.activity() else { return false }
        return true
    }

    /// Stops a thread and waits until it has stopped. Signals to it are passed on.
    ///
    /// - Parameter deadline: nil: the usual patience.
    /// - Returns: where it would go on.
    func stopNow(_ thread: TracedThread, by deadline: MonotonicTime? = nil) -> UInt64? {
        let start = process.now
        let deadline = deadline ?? start + Self.stopPatience
        // Before it is traced: while it is, others may be woken for nothing.
        if !thread.tracing.isTraced {
            guard waitForCertainty(thread, by: deadline), thread.tracing.seize() else { return nil }
        }
        if thread.tracing.endHold() {
            return try? thread.tracee.resumeAddress()
        }
        let wasAwaitingStop = isAwaitingStop
        isAwaitingStop = true
        defer { isAwaitingStop = wasAwaitingStop }
        while thread.tracing.isTraced, thread.phase != .exited, postponed == nil {
            if let report = process.nextReport(of: thread.tid) {
                guard let event = report.event else { return nil }
                keepCall(of: thread, after: event)
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
                    take(event, of: thread.tid)
                    return nil
                default: takeMeanwhile(event, of: thread.tid)
                }
            } else if !thread.isInterrupted {
                // Asked to stop when it has stopped already, it would do so twice.
                interrupt(thread)
                let mayShow = !thread.isInterrupted && process.now < deadline && isInDoubt(thread)
                guard thread.isInterrupted || mayShow && waitForCertainty(thread, by: deadline)
                else { return nil }
            } else {
                let isLate = isCalledOff && process.now - start > Self.turn
                guard process.now < deadline, !isLate, expectStop(thread) else {
                    callOffStop(of: thread)
                    return nil
                }
                serveAll(but: thread)
                pause(microseconds: 20)
            }
        }
        return nil
    }

    /// Waits until it is certain that a thread can be stopped without harm: see ``isInDoubt(_:)``.
    ///
    /// - Returns: false: it is not by then.
    private func waitForCertainty(_ thread: TracedThread, by deadline: MonotonicTime) -> Bool {
        let start = process.now
        return wait(atMost: max(.zero, deadline - start)) {
            if !isInDoubt(thread) { return true }
            serveAll(but: thread)
            return isCalledOff && process.now - start > Self.turn
        } && !isInDoubt(thread)
    }

    /// - Returns: whether the thread's stop is still to come. A thread that waits now will not run its own
    /// code, so it is stopped where it is, if that ends no call. A led thread is in a call of ours.
    private func expectStop(_ thread: TracedThread) -> Bool {
        guard !thread.tracing.isLed, let interruption = thread.tracing.interruption,
            !interruption.isCalledOff,
            case .blocked(let call, let registers) = thread.activity(),
            // Else it has a page fetched, or has just stopped.
            call >= 0
        else { return true }
        interruption.callOff()
        return endsNoCall(call, registers) && (try? thread.tracee.interrupt()) != nil
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

    /// Serves the other threads meanwhile, because the thread may wait for what happens to them: an
    /// exec waits for the ends of all other threads, and each of these stops once more.
    func serveAll(but thread: TracedThread? = nil) {
        watchTimers()
        for other in threads.values where other.tracing.isTraced && other.tid != thread?.tid {
            guard let event = process.nextReport(of: other.tid)?.event else { continue }
            if awaited.contains(other.tid), takeOurStop(event, of: other) {
                keepCall(of: other, after: event)
                other.goOn()
                other.tracing.hold()
            } else {
                takeMeanwhile(event, of: other.tid)
            }
        }
    }

    /// - Returns: whether a thread has stopped because it was asked to. If it was asked to stop in its own
    /// code, that is done then.
    private func takeOurStop(_ event: TraceEvent, of thread: TracedThread) -> Bool {
        if event == .stopped { return true }
        guard event.isSignal, thread.tracing.interruption?.hasStopped == true
        else { return false }
        thread.tracing.forgetInterruption()
        return true
    }

    /// Takes an event, but postpones an exec: another program must not begin while we change this
    /// one.
    private func takeMeanwhile(_ event: TraceEvent, of tid: Int32) {
        if event == .executed { postponed = event } else { take(event, of: tid) }
    }

    /// How long to try stopping one thread, if another will do as well.
    private static let turn = TimeSpan.milliseconds(20)

    /// Stops some thread without ending a call by that: one that runs, or that waits in a call that
    /// is restarted. nil if none can be stopped within a tenth of a second.
    ///
    /// - Parameter deadline: the longer limit for threads that could be stopped if only they got a
    ///   core, or at the right moment: a thread that has run meanwhile will run again.
    func stopAny(by deadline: MonotonicTime) -> TracedThread? {
        // A program has them only when its own code runs, which may be later than ours.
        if ProcessStatus(pid: pid)?.hasShadowStack == true { return nil }
        let soon = process.now + .milliseconds(100)
        let before = ranBefore()
        var isActive = false
        var turn = Self.turn
        var unfit: Set<Int32> = []
        while true {
            let isLate = process.now >= soon
            var wantsCore = false
            // Who cannot be led away is not stopped again and again.
            for thread in threads.values
            where mayStop(thread) && !(isLate ? unfit.contains(thread.tid) : mayHarmOthers(thread))
            {
                // Another may be had sooner.
                let limit = min(deadline, process.now + turn)
                guard let position = stopHarmlessly(thread, by: limit) else {
                    wantsCore = true
                    continue
                }
                // Its first child may just have come.
                let isFit = isLate || !mayHarmOthers(thread)
                if isFit, examine(thread, at: position), !isFiltered(thread) { return thread }
                if isFit { unfit.insert(thread.tid) }
                release(thread)
            }
            isActive = isActive || (isLate && ranBefore() != before)
            let isPatient = (wantsCore || isActive) && !isCalledOff
            // Who could not be stopped is still traced, and may be at its end.
            serveAll()
            guard process.isZombie == false, postponed == nil,
                process.now < (isPatient ? max(deadline, soon) : soon)
            else { return nil }
            // Where there are many, each may have to wait for longer.
            if isLate { turn = turn + turn }
            pause(microseconds: 500)
        }
    }

    /// How long each thread has run, in nanoseconds.
    private func ranBefore() -> [Int32: Int64?] {
        threads.mapValues { $0.counters()?.run }
    }

    private func mayStop(_ thread: TracedThread) -> Bool {
        // Who sleeps deeply stops for nobody before that is over.
        guard thread.state != UInt8(ascii: "D") else { return false }
        // It would be killed for what it has to do.
        if isFiltered(thread) { return false }
        // Asked already, for a sample.
        if thread.isInterrupted { return true }
        guard thread.phase == .free, let activity = thread.activity() else { return false }
        guard case .blocked(let call, let registers) = activity else { return true }
        return endsNoCall(call, registers)
    }

    /// Whether a filter, or strict mode, may forbid the thread what our code would make it do. A
    /// stopped thread cannot change its filters.
    func isFiltered(_ thread: TracedThread) -> Bool {
        thread.tracee.dispatchesCalls
            || thread.status()?.isFiltered(beyond: ThreadStatus.ownFilters) != false
    }

    /// Looks where a stopped thread stands.
    ///
    /// - Returns: whether it may be made to go on elsewhere. From our own code it would never
    /// come back, and its stack needs room for what it must find again.
    func examine(_ thread: TracedThread, at position: UInt64) -> Bool {
        guard let pointer = try? thread.tracee.registers().stackPointer else { return false }
        thread.stack.saw(pointer)
        return area?.range.contains(position) != true && observer.stackPlace(of: thread).hasRoom
            && !thread.tracee.isInSequence
    }

    /// Lets a diverted thread go on until it begins a call at which it is to stop. It stops there by
    /// itself: a stop that is asked for may come when it has returned, and end a call of the program's.
    ///
    /// - Parameter place: whether it is to stop after the instruction before an address.
    /// - Returns: false: it has not come there by the deadline, or is gone.
    func lead(
        _ thread: TracedThread, by deadline: MonotonicTime, to place: (UInt64) -> Bool
    ) -> Bool {
        guard (try? thread.tracee.resumeToCall()) != nil else { return false }
        while process.now < deadline, !isCalledOff, postponed == nil, thread.phase != .exited {
            guard let report = process.nextReport(of: thread.tid) else {
                serveAll(but: thread)
                pause(microseconds: 20)
                continue
            }
            guard let event = report.event else { return false }
            guard event == .call else {
                takeMeanwhile(event, of: thread.tid)
                return false
            }
            if let position = try? thread.tracee.resumeAddress(), place(position) { return true }
            guard (try? thread.tracee.resumeToCall()) != nil else { return false }
        }
        return false
    }

    /// Waits for something that is usually true already.
    ///
    /// - Parameter interval: how long to pause between two looks, in microseconds.
    /// - Returns: whether it became true.
    @discardableResult
    func wait(atMost limit: TimeSpan, every interval: Int = 200, until isSo: () -> Bool) -> Bool {
        let deadline = process.now + limit
        while !isSo() {
            guard process.now < deadline else { return false }
            pause(microseconds: interval)
        }
        return true
    }

    func pause(microseconds: Int) {
        whileWaiting?()
        process.pause(microseconds: microseconds)
    }
}
