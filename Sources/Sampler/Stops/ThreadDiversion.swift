import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Makes stopped threads run pieces of our code.
struct ThreadDiversion: SessionPart {
    let context: SessionContext
    let resumption: ThreadResumption
    let harm: StopHarm
    let requests: StopRequests
    let stopper: ThreadStopper

    /// Resumes a diverted thread until it begins a call at which it is to stop. It stops there by
    /// itself: a stop on request might come after its return, and end a call of the program's.
    ///
    /// - Parameter place: whether it is to stop after the instruction before an address.
    /// - Returns: false: it has not reached that call by the deadline, or is gone.
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
    /// it may have been in ends or restarts, depending on the events in the meantime.
    func takeAway(
        _ code: [UInt8], by thread: TracedThread, _ deadline: MonotonicTime
    ) -> Bool {
        guard let cave = ImageStart(of: process).anyCave else { return false }
        return run(code, at: cave, by: thread, until: deadline)
    }

    /// Whether a piece is still in the cave, from which a thread did not come back in time.
    var isCaveTaken: Bool {
        guard let cave = ImageStart(of: process).anyCave else { return false }
        return AgentCode.isPiece(process.memory.read(at: cave, count: AgentCode.pieceSize))
    }

    /// Makes a stopped thread run a piece of ours in a cave, and stops it again where it was. If we
    /// fail, it returns by itself, after some five milliseconds, and needs the piece until then.
    ///
    /// - Parameter deadline: until then it should have had a core for it; nil: within a second.
    func run(
        _ code: [UInt8], at cave: UInt64, by thread: TracedThread,
        until deadline: MonotonicTime? = nil
    ) -> Bool {
        let before = process.memory.read(at: cave, count: code.count)
        guard before.count == code.count, !AgentCode.isPiece(before),
            process.memory.write(code, at: cave),
            let state = try? thread.tracee.divert(to: cave)
        else { return false }
        let deadline = deadline ?? process.now + .milliseconds(1000)
        guard
            lead(thread, by: deadline, to: { AgentCode.isAwayWaiting($0, piece: cave) }),
            stopInNap(thread, by: deadline), (try? thread.tracee.restore(state)) != nil
        else {
            // The caller releases the thread, and expects it to be stopped.
            _ = stopper.stopNow(thread)
            return false
        }
        process.memory.write(before, at: cave)
        return true
    }

    /// Stops a thread at the beginning of a nap in a piece, so that the call that it was in can be
    /// restored. It cannot leave the nap before that.
    private func stopInNap(_ thread: TracedThread, by deadline: MonotonicTime) -> Bool {
        thread.tracing.beginLead()
        defer { thread.tracing.endLead() }
        requests.interruptAnywhere(thread)
        return (try? thread.tracee.resume()) != nil && stopper.stopNow(thread, by: deadline) != nil
    }

    // MARK: Threads that can be diverted

    /// Stops some thread without ending a call by that: one that runs, or that waits in a call that
    /// is restarted. nil if none can be stopped within a tenth of a second.
    ///
    /// - Parameter deadline: the longer limit for threads that could be stopped if only they got a
    ///   core, or at the right moment: a thread that has run meanwhile will run again.
    func stopAny(by deadline: MonotonicTime) -> TracedThread? {
        // A program has a shadow stack only once its own code runs, which may be later than ours.
        if process.status?.hasShadowStack == true { return nil }
        let soon = process.now + .milliseconds(100)
        let before = ranBefore()
        var isActive = false
        var turn = ThreadStopper.turn
        var unfit: Set<Int32> = []
        while true {
            let isLate = process.now >= soon
            var wantsCore = false
            // A thread that cannot be diverted is not stopped again and again.
            for thread in threads.values
            where mayStop(thread)
                && !(isLate ? unfit.contains(thread.tid) : harm.mayHarmOthers(thread))
            {
                // Another thread may be available sooner.
                let limit = min(deadline, process.now + turn)
                guard let position = stopper.stopHarmlessly(thread, by: limit) else {
                    wantsCore = true
                    continue
                }
                // The thread may just have forked its first child.
                let isFit = isLate || !harm.mayHarmOthers(thread)
                if isFit, examine(thread, at: position), !thread.isFiltered { return thread }
                if isFit { unfit.insert(thread.tid) }
                resumption.release(thread)
            }
            // The recorder may have had no core for a while: the threads that have run are known
            // for this moment only.
            let now = process.now
            isActive = isActive || (now >= soon && ranBefore() != before)
            let isPatient = (wantsCore || isActive) && !context.isCalledOff
            // A thread that could not be stopped is still traced, and may be at its end.
            stopper.serveAll()
            guard process.isZombie == false, context.postponed == nil,
                now < (isPatient ? max(deadline, soon) : soon)
            else { return nil }
            // Where there are many threads, each may have to wait for longer.
            if isLate { turn = turn + turn }
            context.pause(microseconds: 500)
        }
    }

    /// How long each thread has run, in nanoseconds.
    private func ranBefore() -> [Int32: Int64?] {
        threads.values.reduce(into: [:]) { $0[$1.tid] = .some($1.counters()?.run) }
    }

    private func mayStop(_ thread: TracedThread) -> Bool {
        // A thread in an uninterruptible sleep stops only when the sleep is over.
        guard thread.state != UInt8(ascii: "D") else { return false }
        // A filter would kill the thread for the calls of our code.
        if thread.isFiltered { return false }
        // Asked already, for a sample.
        if thread.isInterrupted { return true }
        guard thread.phase == .free, let activity = thread.activity() else { return false }
        guard case .blocked(let call, let registers) = activity else { return true }
        return harm.endsNoCall(call, registers)
    }

    /// Examines the place where a thread is stopped.
    ///
    /// - Returns: whether the thread may be diverted. From our own code it would never come back,
    ///   and its stack needs room for the data that it must find again.
    func examine(_ thread: TracedThread, at position: UInt64) -> Bool {
        guard let pointer = try? thread.tracee.registers().stackPointer else { return false }
        thread.stack.saw(pointer)
        return area?.range.contains(position) != true
            && observer.stackPlace(of: thread).hasRoom
            && !thread.tracee.isInSequence
    }
}
