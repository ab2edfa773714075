import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Samples threads by the kernel's events: the usual way, because no event ends a call early, and none
/// puts anything on a stack.
struct EventStacks: SessionPart {
    let context: SessionContext
    let copies: EventCopies
    let timerEnds: TimerEnds
    let room: StackRoom
    let timerStacks: TimerStacks

    /// Whether a running thread's stacks are taken by events from now on.
    ///
    /// - Parameter counters: its counters, if it has not waited for anything since the last look.
    func sampleByEvents(_ thread: TracedThread, _ counters: SchedulerCounters? = nil) -> Bool {
        if thread.samples != nil { return true }
        guard context.capture == .untraced, context.events.mayBeTried(at: process.now),
            !thread.stack.hasAlternate,
            !thread.tracing.isTraced || stage.isSettling,
            thread.phase == .free
        else {
            return false
        }
        do throws(SystemError) {
            thread.samples = try process.samples(
                of: thread.tid,
                cpu: (counters ?? thread.clock.counters).run,
                interval: options.sampleInterval,
                stackBytes: copies.eventStackBytes(of: thread), inKernelOnly: false)
        } catch {
            context.events.failed(error, at: process.now)
        }
        if thread.samples?.isUserOnly == true { ledger.note(.kernelUnsampled, 1) }
        observer.interpreters.look(
            at: thread.tid, ran: (counters ?? thread.clock.counters).run, at: process.now)
        return thread.samples != nil
    }

    func endEvents(of thread: TracedThread) {
        timerEnds.endTimer(of: thread)
        thread.samples = nil
    }

    /// Passes on the samples that events took of a thread.
    ///
    /// - Parameter limit: later samples are kept for the next call.
    func takeSamples(
        of thread: TracedThread, _ counters: SchedulerCounters, upTo limit: MonotonicTime? = nil
    ) {
        guard let samples = thread.samples, thread.timing.timer == nil else { return }
        var isCut = false
        let taken = samples.take(cpuAtLeast: counters.run, upTo: limit)
        if !taken.isEmpty {
            observer.interpreters.look(at: thread.tid, ran: counters.run, at: process.now)
        }
        for seen in taken {
            // Where there is no other way, a stack without its end is better than none.
            if context.eventFollowed == nil,
                SignalFrame.interruptedStackPointer(
                    behind: seen.stack, at: seen.registers.stackPointer) != nil
            {
                thread.stack.sawAlternate()
                endEvents(of: thread)
            }
            // Drop this stack. The next one, which is whole, counts for it.
            if copies.fetchMissing(of: seen, thread) || seen.stack.bytes.isEmpty { continue }
            thread.stack.saw(seen.registers.stackPointer)
            if !thread.stack.hasAlternate { room.noteStack(of: thread) }
            note(seen, of: thread)
            if seen.isCut, context.eventFollowed == nil, copies.isShort(seen.stack),
                findLongerCopy(of: thread, than: samples)
            {
                // Drop this stack. The next one, which is whole, counts for it.
                isCut = true
                continue
            }
            observer.sample(
                CapturedStack(seen), of: thread, counters,
                frames: observer.interpreters.frames(of: thread.tid, at: seen.time, on: seen.stack))
        }
        guard isCut, thread.samples != nil else { return }
        // The stack has grown: take longer copies, or another way where none is long enough.
        endEvents(of: thread)
        _ = sampleByEvents(thread)
    }

    /// - Returns: whether a longer copy can be had: by events, or by the thread itself.
    private func findLongerCopy(of thread: TracedThread, than samples: ThreadSamples) -> Bool {
        return copies.eventStackBytes(of: thread) > samples.stackBytes
            || (timerStacks.wantsTimer(thread) && room.hasRoomForSignal(thread))
    }

    /// Notes what a sample shows of the thread's system calls.
    private func note(_ seen: ThreadSamples.Observation, of thread: TracedThread) {
        if seen.mayHideCall { return thread.sawCall() }
        guard seen.isInKernel else { return thread.sawCode() }
        thread.saw(seen.registers, at: seen.time)
    }

    /// A thread was found off its core: its CPU time is known exactly.
    func calibrate(_ thread: TracedThread) {
        thread.samples?.calibrate(cpu: thread.clock.counters.run)
    }
}

extension CapturedStack {
    /// The stack that an event recorded.
    init(_ seen: ThreadSamples.Observation) {
        self.init(
            time: seen.time, cpu: seen.cpu,
            snapshot: Snapshot(
                registers: seen.registers, stack: seen.stack, kernelChain: seen.kernelChain),
            isOnAlternateStack: false)
    }
}
