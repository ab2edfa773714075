import Agent
import Architecture
import ProcessIO
import ProfileModel
import Runtimes
import System

/// Samples threads that run an interpreter by a kernel timer. Its signal finds a thread in its own
/// code only, and the interpreter's frames come with the stack. Events show what the thread does in
/// the kernel's code.
struct TimerStacks: SessionPart {
    let context: SessionContext
    let copies: EventCopies
    let harm: StopHarm
    let timerEnds: TimerEnds
    let room: StackRoom
    let requests: StopRequests

    /// Whether a running thread's stacks are taken by its timer from now on.
    ///
    /// - Parameter counters: its counters, read a moment ago.
    func sampleByTimer(
        _ thread: TracedThread, _ status: ThreadStatus, _ counters: SchedulerCounters,
        at now: MonotonicTime
    ) -> Bool {
        guard let signals = signalCapture, mayHaveTimer(thread, status),
            let state = frames(of: thread, by: signals),
            thread.timing.timer != nil
                || beginTimer(thread, status, counters, by: signals, at: now)
        else {
            timerEnds.endTimer(of: thread)
            return false
        }
        thread.timing.allow(
            signals.arm(thread, observer.stackPlace(of: thread), frames: state))
        // Only events show how long the thread was in the kernel's code. Without them, silence
        // means nothing.
        if thread.samples != nil, thread.timing.isSilent(at: counters.run) {
            thread.timing.noteRestart()
            timerEnds.endTimer(of: thread)
        }
        return true
    }

    /// Whether timers are for the threads of this process that run an interpreter.
    private var timersServe: Bool {
        context.eventFollowed == nil && context.instrumentation?.seesMasks == true
            && context.sharesNamespace
    }

    /// Whether a thread runs an interpreter, and a timer is for such threads here.
    func wantsTimer(_ thread: TracedThread) -> Bool {
        guard let signals = signalCapture, timersServe, !thread.timing.isUseless,
            context.timers.mayBeTried(at: process.now), context.events.mayBeTried(at: process.now)
        else { return false }
        return frames(of: thread, by: signals) != nil
    }

    private func mayHaveTimer(_ thread: TracedThread, _ status: ThreadStatus) -> Bool {
        guard context.capture == .untraced, timersServe, stage.execution == nil, !context.isLeaving,
            signalCapture?.slots.isReady == true,
            thread.phase == .free, !thread.tracing.isTraced, !thread.timing.isUseless,
            !thread.stack.hasAlternate, thread.statuses.knowsMask || !harm.someBlockOurs
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
        guard context.timers.mayBeTried(at: now), context.events.mayBeTried(at: now) else {
            return false
        }
        // A thread that has waited for long can do without its timer. A thread that continues in a
        // moment keeps it: if many threads took turns, no timer would ever reach its first signal.
        // Events report the other threads.
        if !signals.slots.hasRoomForTimer,
            let waiting = threads.values.first(where: { hasWaited($0, until: now) })
        {
            timerEnds.endTimer(of: waiting)
        }
        do throws(SystemError) {
            guard
                try signals.begin(
                    thread, status, each: TimeSpan(nanoseconds: options.sampleInterval))
            else {
                return false
            }
        } catch {
            context.timers.failed(error, at: now)
            return false
        }
        thread.timing.noteSign(at: counters.run)
        observeKernel(of: thread, counters.run, stackBytes: copies.eventStackBytes(of: thread))
        return true
    }

    /// Makes events record what the thread does in the kernel's code.
    private func observeKernel(of thread: TracedThread, _ cpu: Int64, stackBytes: Int) {
        thread.samples = try? process.samples(
            of: thread.tid, cpu: cpu, interval: options.sampleInterval, stackBytes: stackBytes,
            inKernelOnly: true)
        if thread.samples == nil { ledger.note(.kernelUnsampled, 1) }
    }

    /// Whether a thread can have a timer, whose signal finds it in its own code. Its stack must
    /// have room, and no thread of the process may have been found on a stack that the program made
    /// itself.
    private func canBeTimed(_ thread: TracedThread, _ status: ThreadStatus) -> Bool {
        guard let signals = signalCapture else { return false }
        return signals.obstacle(thread, status, hasRoom: room.hasRoomForSignal(thread)) == nil
    }

    /// Where an interpreter keeps the thread's state, if our code in the program can follow its
    /// lists.
    func frames(of thread: TracedThread, by signals: SignalCapture) -> UInt64? {
        guard let interpreter = observer.interpreters.interpreter,
            signals.slots.frameList != nil || signals.slots.copyFrames(of: interpreter.layout)
        else { return nil }
        return observer.interpreters.state(of: thread.tid, at: process.now)
    }

    // MARK: Samples from timers and events

    /// Passes on the samples from a thread's timer and its events, in the order of time.
    func takeTimed(of thread: TracedThread, _ counters: SchedulerCounters) {
        guard let signals = signalCapture, !thread.timing.slots.isEmpty else { return }
        // Samples that come while we look wait for the next call; else an older one could follow a
        // newer.
        let limit = process.now
        let answers = signals.answersToTimer(of: thread, upTo: limit)
        let timing = thread.timing
        var rest = timing.later
        if timing.timer != nil, let samples = thread.samples {
            rest += samples.take(cpuAtLeast: counters.run)
        }
        let count = rest.firstIndex { $0.time > limit } ?? rest.count
        timing.keep(later: rest[count...])
        rest.removeSubrange(count...)
        guard !answers.isEmpty || !rest.isEmpty else { return }
        // The answer close to an event may have come with the last look, or may come with the next.
        let known = timing.last + answers
        if let last = answers.last { timing.keep(last: last.withoutStack) }
        rest.removeAll {
            $0.isCovered(by: known, each: options.sampleInterval, ownCode: observer.ownCode)
        }
        if timing.timer != nil {
            // An answer with a deep stack takes a third of a millisecond.
            let settled =
                signals.isAnswering(thread)
                ? timing.last.last?.time ?? MonotonicTime(nanoseconds: 0)
                : limit - TimeSpan(nanoseconds: options.sampleInterval / 10)
            let count = rest.firstIndex { $0.time > settled } ?? rest.count
            timing.keep(first: rest[count...])
            rest.removeSubrange(count...)
        }
        if answers.isEmpty {
            // The thread was in the kernel's code for that long.
            timing.noteKernel(Int64(rest.count) * options.sampleInterval)
        } else {
            timing.noteAnswer(at: counters.run)
        }
        rest.removeAll { copies.fetchMissing(of: $0, thread) || $0.stack.bytes.isEmpty }
        for answer in answers {
            if answer.isOnAlternateStack {
                thread.stack.saw(answer.registers.stackPointer)
                thread.stack.sawAlternate()
                continue
            }
            // An answer counts as a look: the events before it lie between the last look and this
            // one.
            let frames = observer.interpreters.checked(
                answer.frames, of: thread.tid, ran: answer.cpu, at: answer.time...answer.time)
            let count = rest.firstIndex { $0.time >= answer.time } ?? rest.count
            for seen in rest[..<count] { hand(on: seen, of: thread, counters) }
            rest.removeFirst(count)
            thread.saw(answer.registers, at: answer.time)
            observer.sample(answer, of: thread, counters, frames: frames)
        }
        if !rest.isEmpty {
            observer.interpreters.look(at: thread.tid, ran: counters.run, at: process.now)
            for seen in rest { hand(on: seen, of: thread, counters) }
        }
        guard thread.stack.hasAlternate, timing.timer != nil else { return }
        timerEnds.endTimer(of: thread)
        requests.stopForSample(thread)
    }

    private func hand(
        on seen: ThreadSamples.Observation, of thread: TracedThread, _ counters: SchedulerCounters
    ) {
        if seen.isCut, copies.isShort(seen.stack), copyMore(of: thread) {
            // Drop this stack. The next one, which is whole, counts for it.
            return
        }
        thread.stack.saw(seen.registers.stackPointer)
        observer.sample(
            CapturedStack(seen), of: thread, counters,
            frames: observer.interpreters.frames(of: thread.tid, at: seen.time, on: seen.stack))
    }

    /// Makes the next events copy more of the thread's stack.
    ///
    /// - Returns: false: they cannot copy more.
    private func copyMore(of thread: TracedThread) -> Bool {
        let size = copies.eventStackBytes(of: thread)
        guard thread.timing.timer != nil, let samples = thread.samples, size > samples.stackBytes
        else { return false }
        observeKernel(of: thread, thread.clock.counters.run, stackBytes: size)
        return true
    }
}

extension CapturedStack {
    /// The answer's time and registers only.
    fileprivate var withoutStack: CapturedStack {
        CapturedStack(
            time: time, cpu: cpu,
            snapshot: Snapshot(registers: registers, stack: StackCopy(start: 0, bytes: [])),
            isOnAlternateStack: isOnAlternateStack)
    }
}

extension ThreadSamples.Observation {
    /// Whether an event adds nothing to the answers to a thread's timer, whose stacks have the
    /// interpreter's frames.
    ///
    /// The event may show how the kernel delivers our signal, or our handler's own calls: where the
    /// two clocks have nearly the same phase, events would show nothing else. A thread to which our
    /// signal is delivered has the registers that the handler then reports. Calls that the program
    /// makes through our stand-ins are its own: no signal was answered just before them.
    ///
    /// - Parameters:
    ///   - interval: of the timer and the events, in nanoseconds.
    ///   - ownCode: where our code lies in the program.
    func isCovered(
        by answers: [CapturedStack], each interval: Int64, ownCode: Range<UInt64>?
    ) -> Bool {
        let isInOurs = ownCode?.contains(registers.programCounter) == true
        return answers.contains { answer in
            let distance = (time - answer.time).nanoseconds
            return abs(distance) < interval / 10
                || isInOurs && distance >= 0 && distance < interval
                || answer.registers == registers
        }
    }
}
