import ProfileModel
import System

/// Samples threads that run an interpreter, or whose stacks are too deep for events, by a timer of the
/// kernel's. Its signal finds a thread in its own code only, and the interpreter's frames come with the
/// stack. Events tell what the thread does in the kernel's code.
extension TraceSession {
    /// Whether a running thread's stacks are taken by its timer from now on.
    ///
    /// - Parameter counters: its counters, read a moment ago.
    func sampleByTimer(
        _ thread: TracedThread, _ status: ThreadStatus, _ counters: SchedulerCounters,
        at now: MonotonicTime
    ) -> Bool {
        guard let signals = signalCapture, mayHaveTimer(thread, status),
            let state = timedFrames(of: thread, by: signals),
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

    /// Whether timers are for the threads of this process that run an interpreter.
    private var timersServe: Bool {
        told == nil && instrumentation?.seesMasks == true && sharesNamespace
    }

    /// Whether a thread runs an interpreter or has a deep stack, and a timer is for such threads here.
    func wantsTimer(_ thread: TracedThread) -> Bool {
        guard let signals = signalCapture, timersServe, !thread.isUntimed,
            timers.mayBeTried(at: process.now), events.mayBeTried(at: process.now)
        else { return false }
        return timedFrames(of: thread, by: signals) != nil
    }

    /// What a timer's signal copies beside the stack: where an interpreter has the thread's state; 0 for a
    /// stack that is only too deep for events; nil: events tell as much.
    private func timedFrames(of thread: TracedThread, by signals: SignalCapture) -> UInt64? {
        frames(of: thread, by: signals) ?? (thread.hasDeepStack ? 0 : nil)
    }

    private func mayHaveTimer(_ thread: TracedThread, _ status: ThreadStatus) -> Bool {
        guard capture == .signal, timersServe, stage.execution == nil, !isLeaving,
            signalCapture?.slots.isReady == true,
            thread.phase == .free, !thread.isTraced, !thread.isUntimed,
            !thread.usesAlternateStack, thread.knowsMask || !someBlockOurs
        else { return false }
        return canBeTimed(thread, status)
    }

    private func hasWaited(_ thread: TracedThread, until now: MonotonicTime) -> Bool {
        guard thread.timer != nil, thread.blocked != nil, let wait = thread.wait else {
            return false
        }
        return now - wait.start >= Self.idlePatience
    }

    private static var idlePatience: TimeSpan { .milliseconds(50) }

    private func beginTimer(
        _ thread: TracedThread, _ status: ThreadStatus, _ counters: SchedulerCounters,
        by signals: SignalCapture, at now: MonotonicTime
    ) -> Bool {
        guard timers.mayBeTried(at: now), events.mayBeTried(at: now) else { return false }
        // Who has waited for long can do without. Who goes on in a moment keeps it: of many threads in
        // turns nobody's timer would ever come to its first signal, and events tell of the others.
        if !signals.slots.hasRoomForTimer,
            let waiting = threads.values.first(where: { hasWaited($0, until: now) })
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
        observeKernel(of: thread, counters.run, stackBytes: eventStackBytes(of: thread))
        return true
    }

    /// Has events tell what the thread does in the kernel's code.
    func observeKernel(of thread: TracedThread, _ cpu: Int64, stackBytes: Int) {
        thread.samples = try? ThreadSamples(
            tid: thread.tid, cpu: cpu, interval: options.sampleInterval, stackBytes: stackBytes,
            inKernelOnly: true)
        if thread.samples == nil { ledger.note(.kernelUnsampled, 1) }
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
                area?.isAboutToExecute == true || signalCapture?.isOutdated(timer) != false
            if isToEnd { endTimer(of: thread) }
        }
    }
}
