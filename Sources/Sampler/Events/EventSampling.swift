import Agent
import Architecture
import CSystem
import ProcessIO
import ProfileModel

/// Samples threads by the kernel's events: the usual way, because no event ends a call early, and none
/// puts anything on a stack.
extension ProcessSession {
    /// Whether a running thread's stacks are taken by events from now on.
    ///
    /// - Parameter counters: its counters, if it has not waited for anything since the last look.
    func sampleByEvents(_ thread: TracedThread, _ counters: SchedulerCounters? = nil) -> Bool {
        if thread.samples != nil { return true }
        guard capture == .signal, events.mayBeTried(at: process.now), !thread.stack.hasAlternate,
            !thread.tracing.isTraced || stage.isSettling,
            thread.phase == .free
        else {
            return false
        }
        noteDepth(of: thread)
        do throws(SystemError) {
            thread.samples = try ThreadSamples(
                tid: thread.tid,
                cpu: (counters ?? thread.clock.counters).run,
                interval: options.sampleInterval,
                stackBytes: eventStackBytes(of: thread))
        } catch {
            events.failed(error, at: process.now)
        }
        if thread.samples?.isUserOnly == true { ledger.note(.kernelUnsampled, 1) }
        observer.interpreters.look(
            at: thread.tid, ran: (counters ?? thread.clock.counters).run, at: process.now)
        return thread.samples != nil
    }

    /// A thread's stacks are taken by events from its beginning on.
    func sample(_ thread: TracedThread, by tree: TreeSamples) {
        thread.samples = ThreadSamples(
            tid: thread.tid, cpu: thread.clock.counters.run, interval: options.sampleInterval,
            of: tree)
        if tree.isUserOnly { ledger.note(.kernelUnsampled, 1) }
    }

    func endEvents(of thread: TracedThread) {
        endTimer(of: thread)
        thread.samples = nil
    }

    /// Hands on what events told of a thread.
    ///
    /// - Parameter limit: later ones wait.
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
            if told == nil,
                SignalFrame.interruptedStackPointer(
                    behind: seen.stack, at: seen.registers.stackPointer) != nil
            {
                thread.stack.sawAlternate()
                endEvents(of: thread)
            }
            // What it stands for, the next stack stands for, which is whole.
            if fetchMissing(of: seen, thread) || seen.stack.bytes.isEmpty { continue }
            thread.stack.saw(seen.registers.stackPointer)
            noteStack(of: thread)
            note(seen, of: thread)
            if seen.isCut, told == nil, isShort(seen.stack),
                findLongerCopy(of: thread, than: samples)
            {
                // What it stands for, the next stack stands for, which is whole.
                isCut = true
                continue
            }
            observer.sample(
                SharedSlots.Answer(seen), of: thread, counters,
                frames: observer.interpreters.frames(of: thread.tid, at: seen.time, on: seen.stack))
        }
        guard isCut, thread.samples != nil else { return }
        // It has grown: a longer copy, or, where there is none that is long enough, another way.
        endEvents(of: thread)
        _ = sampleByEvents(thread)
    }

    /// - Returns: whether there is a way to a longer copy: longer ones by events, or the thread's own.
    private func findLongerCopy(of thread: TracedThread, than samples: ThreadSamples) -> Bool {
        noteDepth(of: thread)
        return eventStackBytes(of: thread) > samples.stackBytes
            || (wantsTimer(thread) && hasRoomForSignal(thread))
    }

    /// Pages of a stack that were never touched, or are swapped out, end the kernel's copy. A read from
    /// outside brings them in; those that were never touched as zeroes, of which the program sees nothing.
    ///
    /// - Returns: whether the thread's later copies should hold more than this one.
    func fetchMissing(of seen: ThreadSamples.Observation, _ thread: TracedThread) -> Bool {
        guard let samples = thread.samples, !seen.missing.isEmpty else { return false }
        guard let region = region(around: seen.stack.start) else { return false }
        let missing = seen.missing.clamped(to: region.start..<region.end)
        // Most copies end where the stack does. What the program brings is its own affair, and might never
        // come.
        guard !missing.isEmpty, !process.servesPages else { return false }
        guard !thread.tracee.memory(at: missing.lowerBound, count: missing.count).isEmpty
        else { return false }
        return samples.noteFetch(for: seen, at: process.now)
    }

    /// A program that was seen on a stack of its own making may be on it again when a signal comes.
    private func noteStack(of thread: TracedThread) {
        guard let image = stage.image, !image.hasOtherStacks, !thread.stack.hasAlternate,
            observer.stackPlace(of: thread).isForeign
        else { return }
        image.hasOtherStacks = true
    }

    /// What it tells of the thread's calls.
    private func note(_ seen: ThreadSamples.Observation, of thread: TracedThread) {
        if seen.mayHideCall { return thread.sawCall() }
        guard seen.isInKernel else { return thread.sawCode() }
        thread.saw(seen.registers, at: seen.time)
    }

    /// Whether a copy ends before its stack does.
    func isShort(_ copy: StackCopy) -> Bool {
        guard let region = region(around: copy.start) else { return true }
        return region.isStack && copy.start &+ UInt64(copy.bytes.count) < region.end
    }

    /// The mapping that a stack pointer points into; nil: it is not known.
    private func region(around pointer: UInt64) -> MappingWatch.Region? {
        // It may have grown since they were read.
        let now = process.now
        if observer.mappings.isUnknown(pointer, at: now) { observer.rereadMappings(at: now) }
        return observer.mappings.region(around: pointer)
    }

    /// How much of a thread's stack each sample should hold.
    func eventStackBytes(of thread: TracedThread) -> Int {
        // The first thread's stack is the one that grows; of the others there may be hundreds.
        let usual = thread.tid == pid ? ThreadSamples.mostStackBytes : Self.usualEventStack
        guard let wanted = wantedStackBytes(of: thread) else { return usual }
        return min(max(usual, wanted), ThreadSamples.mostStackBytes)
    }

    /// Marks a stack that is deeper than events can copy.
    func noteDepth(of thread: TracedThread) {
        guard let wanted = wantedStackBytes(of: thread) else { return }
        if wanted > ThreadSamples.mostStackBytes { thread.stack.sawDepth() }
    }

    /// How much would hold a thread's stack; nil: it is not known.
    private func wantedStackBytes(of thread: TracedThread) -> Int? {
        guard let pointer = thread.stack.pointer else { return nil }
        let place = observer.stackPlace(of: thread)
        // Where many stacks share one mapping, each is short.
        guard !place.isForeign, place.range.contains(pointer) else { return nil }
        return Int(clamping: place.range.upperBound - pointer) + Self.eventStackGrowth
    }

    private static var usualEventStack: Int { 16 << 10 }
    private static var eventStackGrowth: Int { 8 << 10 }

    /// A thread was found off its core: its CPU time is known exactly.
    func calibrate(_ thread: TracedThread) {
        thread.samples?.calibrate(cpu: thread.clock.counters.run)
    }
}

extension SharedSlots.Answer {
    /// What an event told, as if the thread had answered.
    init(_ seen: ThreadSamples.Observation) {
        self.init(
            time: seen.time, cpu: seen.cpu, registers: seen.registers, stack: seen.stack,
            kernelChain: seen.kernelChain, isOnAlternateStack: false)
    }
}
