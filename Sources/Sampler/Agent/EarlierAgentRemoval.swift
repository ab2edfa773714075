import Agent
import Architecture
import Images
import ProcessIO
import ProfileModel

/// Undoes the changes of recorders that were killed or could not remove their own areas.
struct EarlierAgentRemoval: SessionPart {
    let context: SessionContext
    let discovery: ThreadDiscovery
    let stopper: ThreadStopper
    let codeUse: CodeUse
    let patcher: CodePatcher
    let diversion: ThreadDiversion

    /// Undoes the changes of a recorder that was killed or could not remove its own area: its
    /// changes of the program's code, and its handlers, since each recorder has only two signals to
    /// choose from. Its mapping is removed, too, unless a thread is in it; then it does nothing any
    /// more.
    ///
    /// - Parameters:
    ///   - thread: a stopped thread that can be diverted.
    ///   - others: all other running threads, stopped.
    /// - Returns: true if the program's code was changed.
    /// - Throws: `occupied` if the other recorder may still be at work.
    func takeOver(
        by thread: TracedThread, _ others: inout [TracedThread]
    ) throws(SetupFailure) -> Bool {
        let all = EarlierAgent.all(in: process)
        let inUse = all.filter(\.isInUse)
        guard inUse.allSatisfy({ context.sharesNamespace && $0.isAbandoned }) else {
            throw .obstacle(.occupied)
        }
        for area in inUse {
            for (site, word) in area.changes { patcher.putBack(word, at: site) }
            area.silence(in: process.memory)
        }
        for area in all where context.sharesNamespace && area.isAbandoned {
            try takeBackHandlers(of: area, by: thread)
        }
        for area in abandonedAreas(besides: thread, of: &others) {
            let code = AgentCode.away(unmapping: area.range)
            guard let cave = ImageStart(of: process).anyCave,
                diversion.run(code, at: cave, by: thread)
            else {
                throw .obstacle(.unmapped)
            }
        }
        return !inUse.isEmpty
    }

    /// Areas of recorders that are gone which no thread is in nor can enter any more, by the rules
    /// for our own area. Their handlers are dealt with elsewhere.
    ///
    /// - Parameter stopped: all running threads except the diverted one.
    func abandonedAreas(
        besides thread: TracedThread, of stopped: inout [TracedThread]
    ) -> [EarlierAgent] {
        let all = EarlierAgent.all(in: process).filter {
            context.sharesNamespace && $0.isAbandoned && !$0.isInUse && $0.isQuiet
        }
        guard !all.isEmpty, !process.sharesMemory else { return [] }
        let address = ImageStart(of: process).linker?.debugState
        let hook = address.flatMap { address in
            process.memory.word(at: address).map { (address, $0) }
        }
        return all.filter {
            !$0.isLed(to: hook) && !lookForAnyone(besides: thread, of: &stopped, in: $0.range)
        }
    }

    /// Removes the piece of code of a recorder that was killed while it came or went. The piece
    /// lies in a place that belongs to no function. A thread that still needs the piece is inside
    /// it, or is traced by a recorder that is about to divert it there.
    ///
    /// - Parameter stopped: all running threads.
    func clearCave(_ start: ImageStart, stopped: [TracedThread]) {
        guard let cave = start.anyCave else { return }
        let memory = process.memory
        guard AgentCode.isPiece(memory.read(at: cave, count: AgentCode.pieceSize)) else { return }
        let range = cave..<(cave &+ UInt64(AgentCode.pieceSize))
        let tids = process.threadIDs()
        guard tids.allSatisfy({ threads[$0] != nil && !isTracedElsewhere($0) }),
            codeUse.isUnused(ChangedCode([range]), by: stopped)
        else { return }
        memory.write([UInt8](repeating: 0, count: range.count), at: cave)
    }

    private func isTracedElsewhere(_ tid: Int32) -> Bool {
        guard let tracer = process.tracer(of: tid) else { return false }
        return tracer != 0 && threads[tid]?.tracing.isTraced != true
    }

    /// Restores the actions of signals that still have the other recorder's handler.
    private func takeBackHandlers(
        of area: EarlierAgent, by thread: TracedThread
    ) throws(SetupFailure) {
        for signal in area.signals where process.status?.catches(signal.number) == true {
            let code = AgentCode.away(restoring: signal, from: area.handler, nil)
            guard let cave = ImageStart(of: process).anyCave,
                diversion.run(code, at: cave, by: thread)
            else {
                throw .obstacle(.unmapped)
            }
        }
    }

    /// True if any thread is in our code, or may hold an address in the area. The program's code
    /// has been restored, so a thread that waits elsewhere cannot enter any more.
    ///
    /// - Parameter stopped: the stopped threads. Some threads waited when these were stopped and
    ///   have run since, perhaps into our code; they are added.
    func lookForAnyone(
        besides led: TracedThread, of stopped: inout [TracedThread], in range: Range<UInt64>
    ) -> Bool {
        // In the stand-ins we wait while the program's handlers may run, and we call code that
        // returns there: so any address of theirs on a stack counts. Words that our own handler
        // left on stacks point elsewhere in the area; there only a handler's frame counts.
        let waiting = ChangedCode([AgentCode.standIns(at: range.lowerBound)])
        func isHere(_ thread: TracedThread, _ registers: Registers) -> Bool {
            range.contains(registers.programCounter) || codeUse.isIn(waiting, thread, registers)
                || codeUse.isInterrupted(in: range, thread, registers)
        }
        var isThere = false
        for thread in threads.values
        where thread.phase != .exited && !stopped.contains(where: { $0.tid == thread.tid }) {
            var activity = thread.activity()
            // A thread that was found running must be stopped, or found waiting: a nap in our code
            // is short.
            if case .running = activity, thread.tid != led.tid {
                if stopper.stopHarmlessly(thread) != nil {
                    stopped.append(thread)
                    continue
                }
                activity = thread.activity()
            }
            switch activity {
            case .blocked(_, let registers): isThere = isThere || isHere(thread, registers)
            case .running: isThere = isThere || thread.tid != led.tid
            case nil: break
            }
        }
        return isThere || !discovery.knowsAllThreads
            || (stopped + [led]).contains { thread in
                guard let position = try? thread.tracee.resumeAddress(),
                    let registers = try? thread.tracee.registers()
                else { return true }
                return range.contains(position) || isHere(thread, registers)
            }
    }
}
