import Agent
import Architecture
import ProcessIO
import ProfileModel
import Runtimes

/// Asks running threads for their stacks by signal, and takes what they answer.
struct SignalStacks: SessionPart {
    let context: SessionContext
    let requests: StopRequests
    let timerStacks: TimerStacks
    let eventStacks: EventStacks

    func followRequest(of thread: TracedThread, _ counters: SchedulerCounters) -> Bool {
        context.signalCapture?.followRequest(of: thread, counters) == true
    }

    func takeAnswer(of thread: TracedThread, _ counters: SchedulerCounters) {
        timerStacks.takeTimed(of: thread, counters)
        guard let answer = context.signalCapture?.answer(of: thread) else { return }
        if answer.isOnAlternateStack {
            thread.stack.saw(answer.registers.stackPointer)
            thread.stack.sawAlternate()
            eventStacks.endEvents(of: thread)
            requests.stopForSample(thread)
        } else {
            thread.saw(answer.registers, at: answer.time)
            let frames = observer.interpreters.checked(
                answer.frames, of: thread.tid, ran: answer.cpu, at: answer.time...answer.time)
            observer.sample(answer, of: thread, counters, frames: frames)
        }
    }

    func ask(_ candidate: CaptureCandidate) -> Bool {
        guard let signalCapture = context.signalCapture else { return false }
        let thread = candidate.thread
        let isAsked = signalCapture.ask(
            thread, candidate.status, observer.stackPlace(of: thread), candidate.counters,
            frames: timerStacks.frames(of: thread, by: signalCapture))
        if isAsked { thread.requests.endDetours() }
        return isAsked
    }

    func recentStatus(
        of thread: TracedThread, _ counters: SchedulerCounters
    ) -> ThreadStatus? {
        guard let instrumentation = context.instrumentation, let signals = instrumentation.signals
        else {
            return thread.status()
        }
        let masks = signals.slots.masks
        // In this order: whoever is counted by now is seen to be about to, or was.
        let isMasking = signals.slots.lookForMasking()
        thread.statuses.saw(
            masks: masks, isMasking: isMasking,
            mayChange: instrumentation.masks.look(at: masks, threads: threads.count))
        return thread.recentStatus(
            counters, looks: signals.looksPerStatus(seesMasks: instrumentation.seesMasks))
    }
}

/// Whether what is known of signal masks is still true: threads announce that they are about to change
/// theirs.
struct MaskStaleness {
    private var announced: UInt32 = 0
    private var looks = 0

    /// Looks whether what is known of masks may be out of date. Masks change a moment after their change
    /// was announced.
    ///
    /// - Parameter count: the number of announcements so far.
    /// - Returns: whether it may.
    mutating func look(at count: UInt32, threads: Int) -> Bool {
        if count != announced { (announced, looks) = (count, 8 * threads) }
        looks = max(0, looks - 1)
        return looks > 0
    }
}
