import CSystem
import Glibc
import ProfileModel

/// What ptrace reports of the threads, and how they go on.
extension TraceSession {
    /// What must be looked at before anything that ended is waited for.
    func prepareForChanges() {
        followExecution()
        observeEnd()
    }

    func takeChanges() {
        prepareForChanges()
        while outcome == nil {
            var status: Int32 = 0
            let tid = fl_wait(-1, 1, &status)
            guard tid > 0 else { return }
            guard let event = TraceEvent(status: status) else { continue }
            take(event, of: tid)
        }
    }

    func take(_ event: TraceEvent, of tid: Int32) {
        let now = MonotonicTime.now
        switch event {
        case .exited(let status):
            ended(tid, .exited(status), at: now)
        case .killed(let signal):
            ended(tid, .signalled(signal), at: now)
        case .executed:
            executed(tid, at: now)
        default:
            guard let thread = threads[tid] ?? adopt(tid, at: now) else { return }
            take(event, of: thread, at: now)
        }
    }

    func take(_ event: TraceEvent, of thread: TracedThread, at now: MonotonicTime) {
        switch event {
        case .stopped:
            sampleAtStop(thread)
            if takeMissedExec(thread, at: now) { return }
            if !isLeaving { installSignalCapture(by: thread, at: now) }
            resume(thread, stoppedSince: now)
        case .cloned:
            sampleAtStop(thread)
            if let message = try? thread.tracee.eventMessage() {
                _ = adopt(Int32(truncatingIfNeeded: message), at: now)
            }
            resume(thread, stoppedSince: now)
        case .forked:
            sampleAtStop(thread)
            resume(thread, stoppedSince: now)
        case .exiting:
            if !isLeaving { _ = try? observer.sampleStopped(thread) }
            rename(thread)
            end(thread, at: now)
            if thread.tid == pid || threads.values.allSatisfy({ $0.phase == .exited }) {
                finalCounters = files.counters()
                takeFinalCPU()
            }
            try? thread.tracee.resume()
        case .signal(let number):
            if number == SIGTRAP, takeBreakpoint(thread, at: now) { return }
            sampleAtStop(thread)
            resume(thread, stoppedSince: now, delivering: number)
        case .groupStop:
            thread.phase = .free
            if isFree { release(thread) } else { try? thread.tracee.listen() }
        case .exited, .killed, .executed:
            break
        }
    }

    /// Takes the sample for which the thread was interrupted, if it was: the kernel lets any
    /// other stop stand for ours.
    private func sampleAtStop(_ thread: TracedThread) {
        guard !isLeaving, case .interrupted(let since) = thread.phase else { return }
        if hasMissedExec, thread.tid == pid { return }
        // An exact copy of what it had: it did not move since.
        if thread.blocked != nil, thread.counters()?.slices == thread.clock.counters.slices {
            try? observer.refine(thread)
        } else {
            _ = try? observer.sampleStopped(thread, stoppedSince: since)
        }
        thread.coresAtStop = thread.counters()?.slices
        // The stop itself counts as leaving its core.
        if let status = thread.status() { thread.burst.sawStop(voluntary: status.voluntary) }
    }

    private func takeBreakpoint(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        // TRAP_HWBKPT is 4 (<asm-generic/siginfo.h>); any other SIGTRAP is the program's own.
        guard watch != nil, thread.tid == pid, (try? thread.tracee.signalCode()) == 4,
            let position = try? thread.tracee.registers().programCounter,
            watch?.isBreakpoint(position) == true
        else { return false }
        if let border = watch?.border(at: position, now) {
            pass(border, thread, at: now)
        } else if let agent = watch?.agent, !isLeaving {
            // It comes by here once more afterwards.
            obtainMarkIsland(by: thread, agent)
        }
        resume(thread, stoppedSince: now)
        if isLeaving, watch == nil { outcome = .running }
        return true
    }

    private func pass(_ border: LaunchWatch.Border, _ thread: TracedThread, at now: MonotonicTime) {
        let sampled = isLeaving ? now : (try? observer.sampleCaller(of: thread)) ?? now
        if !isLeaving { mark(border == .main ? .main : .relocated, at: sampled) }
        switch border {
        case .relocated:
            try? watch?.passedRelocation()
            if !isLeaving { hookInitializers(by: thread, at: sampled) }
        case .main:
            leaveMain(by: thread, at: sampled)
        }
        if !isLeaving { observer.rereadMappings(at: sampled) }
    }

    func resume(
        _ thread: TracedThread, stoppedSince: MonotonicTime, delivering signal: Int32 = 0
    ) {
        if thread.phase != .exited { thread.phase = .free }
        release(thread, delivering: signal)
        observer.addHold(.now - stoppedSince, to: thread)
    }

    /// Whether threads are not traced but for a stop.
    private var isFree: Bool { signalCapture != nil && !isFollowingExecution }

    /// Lets a stopped thread go on.
    func release(_ thread: TracedThread, delivering signal: Int32 = 0) {
        guard isFree else {
            try? thread.tracee.resume(delivering: signal)
            return
        }
        try? thread.tracee.detach(delivering: signal)
        thread.isTraced = false
    }

    private func executed(_ tid: Int32, at now: MonotonicTime) {
        guard let main = threads[pid] else { return }
        let former = (try? Tracee(tid: pid).eventMessage()).map { Int32(truncatingIfNeeded: $0) }
        for thread in threads.values where thread.tid != pid {
            if thread.phase != .exited {
                observer.closeWithoutStack(thread, at: now)
                end(thread, at: now)
            }
            threads[thread.tid] = nil
        }
        main.phase = .free
        reportHooks(at: now, isLast: true)
        hooks = nil
        hasMissedExec = false
        if former == pid { main.openFiles() } else { main.restartClock() }
        if isLeaving {
            watch = nil
            outcome = .running
            return
        }
        beginImage(at: now)
    }
}
