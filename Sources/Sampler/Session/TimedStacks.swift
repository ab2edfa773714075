import Agent
import Architecture
import ProcessIO
import ProfileModel
import System

/// What a thread's timer and the events beside it told: see `TimedThreads.swift`.
extension ProcessSession {
    /// Hands on what a thread's timer and its events told, in the order of time.
    func takeTimed(of thread: TracedThread, _ counters: SchedulerCounters) {
        guard let signals = signalCapture, !thread.timing.slots.isEmpty else { return }
        // What comes while we look is left for the next time, or something older would come behind it.
        let limit = MonotonicTime.now
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
        // The answer beside an event may have come with the last look, or come with the next.
        let known = timing.last + answers
        if let last = answers.last { timing.keep(last: last.withoutStack) }
        rest.removeAll {
            $0.isCovered(by: known, each: options.sampleInterval, ownCode: observer.ownCode)
        }
        if timing.timer != nil {
            // Of a deep stack, an answer takes a third of a millisecond.
            let settled =
                signals.isAnswering(thread)
                ? timing.last.last?.time ?? MonotonicTime(nanoseconds: 0)
                : limit - TimeSpan(nanoseconds: options.sampleInterval / 10)
            let count = rest.firstIndex { $0.time > settled } ?? rest.count
            timing.keep(first: rest[count...])
            rest.removeSubrange(count...)
        }
        if answers.isEmpty {
            // That long it was in the kernel's code.
            timing.noteKernel(Int64(rest.count) * options.sampleInterval)
        } else {
            timing.noteAnswer(at: counters.run)
        }
        rest.removeAll { fetchMissing(of: $0, thread) || $0.stack.bytes.isEmpty }
        for answer in answers {
            if answer.isOnAlternateStack {
                thread.stack.saw(answer.registers.stackPointer)
                thread.stack.sawAlternate()
                continue
            }
            // A look, too: the events before it lie between the last one and this.
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
        endTimer(of: thread)
        stopForSample(thread)
    }

    private func hand(
        on seen: ThreadSamples.Observation, of thread: TracedThread, _ counters: SchedulerCounters
    ) {
        if seen.isCut, isShort(seen.stack), copyMore(of: thread) {
            // What it stands for, the next stack stands for, which is whole.
            return
        }
        thread.stack.saw(seen.registers.stackPointer)
        observer.sample(
            SharedSlots.Answer(seen), of: thread, counters,
            frames: observer.interpreters.frames(of: thread.tid, at: seen.time, on: seen.stack))
    }

    /// Has the next events copy more of its stack.
    ///
    /// - Returns: false: they cannot.
    private func copyMore(of thread: TracedThread) -> Bool {
        noteDepth(of: thread)
        let size = eventStackBytes(of: thread)
        guard thread.timing.timer != nil, let samples = thread.samples, size > samples.stackBytes
        else { return false }
        observeKernel(of: thread, thread.clock.counters.run, stackBytes: size)
        return true
    }
}

extension SharedSlots.Answer {
    /// When it was given, and where.
    fileprivate var withoutStack: SharedSlots.Answer {
        SharedSlots.Answer(
            time: time, cpu: cpu, registers: registers, stack: StackCopy(start: 0, bytes: []),
            isOnAlternateStack: isOnAlternateStack)
    }
}

extension ThreadSamples.Observation {
    /// Whether an event tells nothing beside the answers to a thread's timer, whose stacks have the
    /// interpreter's frames.
    ///
    /// It may show how the kernel delivers our signal, or what our handler calls: where the two clocks
    /// have nearly the same phase, events would show nothing else. A thread to which our signal is
    /// delivered has the registers that the handler then reports. What the program calls by our
    /// stand-ins is its own: there no signal was just answered.
    ///
    /// - Parameters:
    ///   - interval: of the timer and the events, in nanoseconds.
    ///   - ownCode: where our code lies in the program.
    func isCovered(
        by answers: [SharedSlots.Answer], each interval: Int64, ownCode: Range<UInt64>?
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
