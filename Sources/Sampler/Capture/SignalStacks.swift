import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Asks running threads for their stacks by signal, and takes the answers.
struct SignalStacks: SessionPart {
    let context: SessionContext
    let requests: StopRequests
    let timerStacks: TimerStacks
    let eventStacks: EventStacks

    func followRequest(of thread: TracedThread, _ counters: SchedulerCounters) -> Bool {
        signalCapture?.followRequest(of: thread, counters) == true
    }

    func takeAnswer(of thread: TracedThread, _ counters: SchedulerCounters) {
        timerStacks.takeTimed(of: thread, counters)
        guard let answer = signalCapture?.answer(of: thread) else { return }
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
        guard let signalCapture else { return false }
        let thread = candidate.thread
        let isAsked = signalCapture.ask(
            thread, candidate.status, observer.stackPlace(of: thread), candidate.counters,
            frames: timerStacks.frames(of: thread, by: signalCapture))
        if isAsked { thread.requests.endDetours() }
        return isAsked
    }
}
