import CSystem
import ProfileModel

/// Samples threads by the kernel's events where a signal or a stop could harm them, or cannot be
/// had: in short bursts between calls that either would end, with the signal blocked or handled by
/// the program, under a filter for system calls, on stacks without room.
extension TraceSession {
    /// Whether a running thread's stacks are taken by events from now on.
    func sampleByEvents(_ thread: TracedThread) -> Bool {
        if thread.samples != nil { return true }
        // At a stop our code comes in.
        if case .due = plan { return false }
        guard capture == .signal, mayUseEvents, !thread.usesAlternateStack, !thread.isTraced,
            thread.phase == .free
        else {
            return false
        }
        thread.samples = ThreadSamples(
            tid: thread.tid, cpu: thread.clock.counters.run,
            interval: 1_000_000_000 / Int64(max(1, options.frequency)),
            stackBytes: thread.eventStackBytes)
        if thread.samples == nil { mayUseEvents = false }
        if thread.samples?.isUserOnly == true { notes[.kernelUnsampled] = 1 }
        return thread.samples != nil
    }

    /// It works most of its time: a signal costs it less.
    func endEvents(of thread: TracedThread) { thread.samples = nil }

    /// Hands on what events told of a thread.
    func takeSamples(of thread: TracedThread, _ counters: SchedulerCounters) {
        guard let samples = thread.samples else { return }
        var isCut = false
        for seen in samples.take() {
            if SignalFrame.interruptedStackPointer(
                behind: seen.stack, at: seen.registers.stackPointer) != nil
            {
                thread.usesAlternateStack = true
                endEvents(of: thread)
            }
            isCut = isCut || seen.isCut
            observer.sample(
                SharedSlots.Answer(
                    time: seen.time, cpu: seen.cpu, registers: seen.registers, stack: seen.stack,
                    isOnAlternateStack: false), of: thread, counters)
        }
        guard isCut, thread.samples != nil, samples.stackBytes < ThreadSamples.mostStackBytes else { return }
        thread.eventStackBytes = ThreadSamples.mostStackBytes
        thread.samples = nil
        _ = sampleByEvents(thread)
    }

    /// A thread was found off its core: its CPU time is known exactly.
    func calibrate(_ thread: TracedThread) {
        thread.samples?.calibrate(cpu: thread.clock.counters.run)
    }
}
