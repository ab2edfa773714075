import ProfileModel
import System

/// Samples threads that run an interpreter by a timer of the kernel's: its signal finds them in their
/// own code only, and the interpreter's frames come with the stack. What they do in the kernel's code
/// is told by events.
extension TraceSession {
    /// Whether a running thread's stacks are taken by its timer from now on.
    ///
    /// - Parameter counters: its counters, read a moment ago.
    func sampleByTimer(
        _ thread: TracedThread, _ status: ThreadStatus, _ counters: SchedulerCounters,
        at now: MonotonicTime
    ) -> Bool {
        guard let signals = signalCapture, mayHaveTimer(thread, status),
            let state = frames(of: thread, by: signals),
            thread.timer != nil || beginTimer(thread, status, counters, by: signals, at: now)
        else {
            endTimer(of: thread)
            return false
        }
        thread.timer?.allow(
            signals.arm(thread, observer.stackPlace(of: thread), frames: state))
        // Where events do not tell how long it was in the kernel's code, nobody knows.
        if thread.samples != nil,
            counters.run - thread.runAtTimer > Self.timerPatience.nanoseconds
        {
            thread.timerRestarts += 1
            thread.isUntimed = thread.timerRestarts > Self.mostRestarts
            endTimer(of: thread)
        }
        return true
    }

    /// A thread that used that much CPU time in its own code should have shown something. Its timer
    /// begins again.
    private static var timerPatience: TimeSpan { .milliseconds(12) }
    private static var mostRestarts: Int { 8 }

    /// Whether a thread runs an interpreter, and a timer is for such threads here.
    func wantsTimer(_ thread: TracedThread) -> Bool {
        guard let signals = signalCapture, tree == nil, told == nil, !thread.isUntimed,
            instrumentation?.seesMasks == true, sharesNamespace,
            timers.mayBeTried(at: process.now), events.mayBeTried(at: process.now)
        else { return false }
        return frames(of: thread, by: signals) != nil
    }

    private func mayHaveTimer(_ thread: TracedThread, _ status: ThreadStatus) -> Bool {
        guard capture == .signal, tree == nil, told == nil, stage.execution == nil, !isLeaving,
            let instrumentation, instrumentation.seesMasks, sharesNamespace, !handlersBlock,
            instrumentation.signals?.slots.isReady == true,
            thread.phase == .free, !thread.isTraced, !thread.isUntimed,
            !thread.usesAlternateStack, thread.knowsMask || !someBlockOurs
        else { return false }
        noteRoom(of: thread, observer.stackPlace(of: thread))
        return canAsk(thread, status)
    }

    private func beginTimer(
        _ thread: TracedThread, _ status: ThreadStatus, _ counters: SchedulerCounters,
        by signals: SignalCapture, at now: MonotonicTime
    ) -> Bool {
        guard timers.mayBeTried(at: now), events.mayBeTried(at: now) else { return false }
        // Who waits can do without.
        if !signals.slots.hasRoomForTimer,
            let waiting = threads.values.first(where: { $0.timer != nil && $0.blocked != nil })
        {
            endTimer(of: waiting)
        }
        do throws(SystemError) {
            guard
                try signals.begin(
                    thread, status, each: TimeSpan(nanoseconds: options.sampleInterval))
            else {
                return false
            }
        } catch {
            timers.failed(error, at: now)
            return false
        }
        thread.runAtTimer = counters.run
        observeKernel(
            of: thread, thread.clock.run(until: now, counters),
            stackBytes: eventStackBytes(of: thread) ?? ThreadSamples.mostStackBytes)
        return true
    }

    // MARK: Ends

    /// What it answers to the last signal can still be taken.
    func endTimer(of thread: TracedThread) {
        guard thread.timer != nil else { return }
        signalCapture?.endTimer(of: thread)
        thread.timer = nil
        thread.samples = nil
        thread.laterEvents = []
    }

    func endTimers() {
        for thread in threads.values { endTimer(of: thread) }
    }

    /// Ends them as soon as the program is about to change what their signal does, or to execute
    /// another one. It waits for that.
    func watchTimers() {
        for thread in threads.values {
            guard let timer = thread.timer else { continue }
            let isToEnd =
                handlersBlock || area?.isAboutToExecute == true
                || signalCapture?.isOutdated(timer) != false
            if isToEnd { endTimer(of: thread) }
        }
    }

    // MARK: Stacks

    /// Hands on what a thread's timer and its events told, in the order of time.
    func takeTimed(of thread: TracedThread, _ counters: SchedulerCounters) {
        guard let signals = signalCapture, !thread.timedSlots.isEmpty else { return }
        // What comes while we look is left for the next time, or something older would come behind it.
        let limit = MonotonicTime.now
        let answers = signals.answersToTimer(of: thread, upTo: limit)
        var rest = thread.laterEvents
        if thread.timer != nil, let samples = thread.samples {
            rest += samples.take(cpuAtLeast: counters.run)
        }
        let count = rest.firstIndex { $0.time > limit } ?? rest.count
        thread.laterEvents = Array(rest[count...])
        rest.removeSubrange(count...)
        guard !answers.isEmpty || !rest.isEmpty else { return }
        if answers.isEmpty {
            // That long it was in the kernel's code.
            thread.runAtTimer += Int64(rest.count) * options.sampleInterval
        } else {
            thread.runAtTimer = counters.run
            thread.timerRestarts = 0
        }
        rest.removeAll { $0.stack.bytes.isEmpty || isCovered($0, by: answers) }
        for answer in answers {
            if answer.isOnAlternateStack {
                thread.stackPointer = answer.registers.stackPointer
                thread.usesAlternateStack = true
                continue
            }
            // The events before it lie between the last look and this one.
            let before = observer.interpreters.lastLook(at: thread.tid)
            let frames = observer.interpreters.checked(
                answer.frames, of: thread.tid, at: answer.time)
            let around = observer.interpreters.surroundings(
                of: thread.tid, since: before)
            let count = rest.firstIndex { $0.time >= answer.time } ?? rest.count
            for seen in rest[..<count] { hand(on: seen, of: thread, around, counters) }
            rest.removeFirst(count)
            thread.saw(answer.registers, at: answer.time)
            observer.sample(answer, of: thread, counters, frames: frames)
        }
        if !rest.isEmpty {
            let around = observer.interpreters.surroundings(of: thread.tid, at: process.now)
            for seen in rest { hand(on: seen, of: thread, around, counters) }
        }
        guard thread.usesAlternateStack, thread.timer != nil else { return }
        endTimer(of: thread)
        stopForSample(thread)
    }

    /// Whether an event tells nothing beside an answer, whose stack has the interpreter's frames.
    ///
    /// It may show how the kernel delivers our signal, or what our handler calls: where the two clocks
    /// have nearly the same phase, events would show nothing else. A thread to which our signal is
    /// delivered has the registers that the handler then reports. What the program calls by our
    /// stand-ins is its own: there no signal was just answered.
    private func isCovered(
        _ seen: ThreadSamples.Observation, by answers: [SharedSlots.Answer]
    ) -> Bool {
        let isInOurs = observer.ownCode?.contains(seen.registers.programCounter) == true
        let interval = options.sampleInterval
        return answers.contains { answer in
            let distance = (seen.time - answer.time).nanoseconds
            return abs(distance) < interval / 10
                || isInOurs && distance >= 0 && distance < interval
                || answer.registers.areAll(as: seen.registers)
        }
    }

    private func hand(
        on seen: ThreadSamples.Observation, of thread: TracedThread, _ around: Surroundings?,
        _ counters: SchedulerCounters
    ) {
        if seen.isCut, isShort(seen.stack), copiesMore(of: thread) {
            // What it stands for, the next stack stands for, which is whole.
            return
        }
        thread.stackPointer = seen.registers.stackPointer
        observer.sample(
            SharedSlots.Answer(seen), of: thread, counters, frames: around?.frames(at: seen.time))
    }

    /// Has the next events copy more of its stack, if they can.
    private func copiesMore(of thread: TracedThread) -> Bool {
        guard thread.timer != nil, let samples = thread.samples,
            let size = eventStackBytes(of: thread), size > samples.stackBytes
        else { return false }
        observeKernel(of: thread, thread.clock.counters.run, stackBytes: size)
        return true
    }

    private func observeKernel(of thread: TracedThread, _ cpu: Int64, stackBytes: Int) {
        thread.samples = try? ThreadSamples(
            tid: thread.tid, cpu: cpu, interval: options.sampleInterval, stackBytes: stackBytes,
            inKernelOnly: true)
        if thread.samples == nil { ledger.note(.kernelUnsampled, 1) }
    }
}
