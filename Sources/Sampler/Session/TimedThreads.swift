import Agent
import ProcessIO
import ProfileModel
import System

/// Samples threads that run an interpreter, or whose stacks are too deep for events, by a timer of the
/// kernel's. Its signal finds a thread in its own code only, and the interpreter's frames come with the
/// stack. Events tell what the thread does in the kernel's code.
extension ProcessSession {
    /// Whether a running thread's stacks are taken by its timer from now on.
    ///
    /// - Parameter counters: its counters, read a moment ago.
    func sampleByTimer(
        _ thread: TracedThread, _ status: ThreadStatus, _ counters: SchedulerCounters,
        at now: MonotonicTime
    ) -> Bool {
        guard let signals = signalCapture, mayHaveTimer(thread, status),
            let state = timedFrames(of: thread, by: signals),
            thread.timing.timer != nil
                || beginTimer(thread, status, counters, by: signals, at: now)
        else {
            endTimer(of: thread)
            return false
        }
        thread.timing.allow(
            signals.arm(thread, observer.stackPlace(of: thread), frames: state))
        // Where events do not tell how long it was in the kernel's code, nobody knows.
        if thread.samples != nil, thread.timing.isSilent(at: counters.run) {
            thread.timing.noteRestart()
            endTimer(of: thread)
        }
        return true
    }

    /// Whether timers are for the threads of this process that run an interpreter.
    private var timersServe: Bool {
        told == nil && instrumentation?.seesMasks == true && sharesNamespace
    }

    /// Whether a thread runs an interpreter or has a deep stack, and a timer is for such threads here.
    func wantsTimer(_ thread: TracedThread) -> Bool {
        guard let signals = signalCapture, timersServe, !thread.timing.isUseless,
            timers.mayBeTried(at: process.now), events.mayBeTried(at: process.now)
        else { return false }
        return timedFrames(of: thread, by: signals) != nil
    }

    /// What a timer's signal copies beside the stack: where an interpreter has the thread's state; 0 for a
    /// stack that is only too deep for events; nil: events tell as much.
    private func timedFrames(of thread: TracedThread, by signals: SignalCapture) -> UInt64? {
        frames(of: thread, by: signals) ?? (thread.stack.isDeep ? 0 : nil)
    }

    private func mayHaveTimer(_ thread: TracedThread, _ status: ThreadStatus) -> Bool {
        guard capture == .signal, timersServe, stage.execution == nil, !isLeaving,
            signalCapture?.slots.isReady == true,
            thread.phase == .free, !thread.tracing.isTraced, !thread.timing.isUseless,
            !thread.stack.hasAlternate, thread.statuses.knowsMask || !someBlockOurs
        else { return false }
        return canBeTimed(thread, status)
    }

    private func hasWaited(_ thread: TracedThread, until now: MonotonicTime) -> Bool {
        guard thread.timing.timer != nil, thread.blocked != nil, let wait = thread.wait else {
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
        thread.timing.noteSign(at: counters.run)
        noteDepth(of: thread)
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
        guard thread.timing.timer != nil else { return }
        signalCapture?.endTimer(of: thread)
        thread.samples = nil
        thread.timing.forgetLater()
    }

    func endTimers() {
        for thread in threads.values { endTimer(of: thread) }
    }

    /// Ends them as soon as the program is about to change what their signal does, or to execute
    /// another one. It waits for that.
    func watchTimers() {
        for thread in threads.values {
            guard let timer = thread.timing.timer else { continue }
            let isToEnd =
                area?.isAboutToExecute == true || signalCapture?.isOutdated(timer) != false
            if isToEnd { endTimer(of: thread) }
        }
    }
}
