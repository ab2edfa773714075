import Agent
import ProcessIO
import ProfileModel

/// Has stopped threads run pieces of our code.
struct ThreadDiversion: SessionPart {
    let context: SessionContext
    let requests: StopRequests
    let stopper: ThreadStopper

    /// Lets a diverted thread go on until it begins a call at which it is to stop. It stops there by
    /// itself: a stop that is asked for may come when it has returned, and end a call of the program's.
    ///
    /// - Parameter place: whether it is to stop after the instruction before an address.
    /// - Returns: false: it has not come there by the deadline, or is gone.
    func lead(
        _ thread: TracedThread, by deadline: MonotonicTime, to place: (UInt64) -> Bool
    ) -> Bool {
        guard (try? thread.tracee.resumeToCall()) != nil else { return false }
        while process.now < deadline, !context.isCalledOff, context.postponed == nil,
            thread.phase != .exited
        {
            guard let report = process.nextReport(of: thread.tid) else {
                stopper.serveAll(but: thread)
                context.pause(microseconds: 20)
                continue
            }
            guard let event = report.event else { return false }
            guard event == .call else {
                stopper.takeMeanwhile(event, of: thread.tid)
                return false
            }
            if let position = try? thread.tracee.resumeAddress(), place(position) { return true }
            guard (try? thread.tracee.resumeToCall()) != nil else { return false }
        }
        return false
    }

    /// Makes a stopped thread remove something, and then continue as if it had not. The call that
    /// it may have been in ends or restarts, according to what has happened meanwhile.
    func takeAway(
        _ code: [UInt8], by thread: TracedThread, _ deadline: MonotonicTime
    ) -> Bool {
        guard let cave = ImageStart(pid: pid).anyCave else { return false }
        return run(code, at: cave, by: thread, until: deadline)
    }

    /// Makes a stopped thread run a piece of ours in a cave, and stops it again where it was. If we
    /// fail, it returns by itself, after some five milliseconds, and needs the piece until then.
    ///
    /// - Parameter deadline: until then it should have had a core for it; nil: within a second.
    func run(
        _ code: [UInt8], at cave: UInt64, by thread: TracedThread,
        until deadline: MonotonicTime? = nil
    ) -> Bool {
        let before = TargetMemory(pid: pid).read(at: cave, count: code.count)
        guard before.count == code.count, !AgentCode.isPiece(before),
            TargetMemory(pid: pid).write(code, at: cave),
            let state = try? thread.tracee.divert(to: cave)
        else { return false }
        let deadline = deadline ?? process.now + .milliseconds(1000)
        guard
            lead(thread, by: deadline, to: { AgentCode.isAwayWaiting($0, piece: cave) }),
            stopInNap(thread, by: deadline), (try? thread.tracee.restore(state)) != nil
        else { return false }
        TargetMemory(pid: pid).write(before, at: cave)
        return true
    }

    /// Stops a thread that stands at the begin of a nap in a piece, so that it can be given back the call
    /// that it was in. It cannot leave the nap before that.
    private func stopInNap(_ thread: TracedThread, by deadline: MonotonicTime) -> Bool {
        thread.tracing.beginLead()
        defer { thread.tracing.endLead() }
        requests.interruptAnywhere(thread)
        return (try? thread.tracee.resume()) != nil && stopper.stopNow(thread, by: deadline) != nil
    }
}
