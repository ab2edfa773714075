import Agent
import Architecture
import CSystem
import Glibc
import ProcessIO
import ProfileModel

/// Takes the area out of the program again, by one of its own threads.
extension ProcessSession {
    /// Leaves nothing behind in the program: one of its threads removes the handler and the area. A
    /// program that is short of cores gets one sooner or later: we wait for it.
    func removeArea(by deadline: MonotonicTime) {
        guard let image = stage.image, let code = image.instrumentation else { return }
        defer { image.instrumentation = nil }
        wait(atMost: .milliseconds(50)) { isIdle(code) }
        // Threads answer open requests as soon as they get a core.
        let forAnswers = deadline - process.now - Self.timeToRemove
        wait(atMost: max(.zero, forAnswers)) { !isAsked(code) || isCalledOff }
        guard repeats(until: deadline, { remove(code, by: deadline) }) else {
            code.area.silence()
            return noteLeftBehind()
        }
    }

    /// How much time is reserved for the removal itself, even if threads have not answered.
    private static let timeToRemove = TimeSpan.milliseconds(1000)

    /// If the other threads did not stop in time, the diverted thread waited in vain, and
    /// continued. What it had mapped disturbs nobody, but it is ours to remove.
    func removeForsaken(by deadline: MonotonicTime) {
        guard stage.image != nil else { return }
        // Waiting for an entry may have used up the time.
        let deadline = max(deadline, process.now + Self.stopPatience)
        let isGone = repeats(until: deadline) {
            guard hasForsaken else { return true }
            // A thread that cannot be stopped by then will not be stopped at all.
            guard let thread = stopAny(by: deadline) else {
                noteLeftBehind()
                return true
            }
            defer { release(thread) }
            guard var others = stopAllOthers(than: thread) else { return false }
            let areas = abandonedAreas(besides: thread, of: &others)
            for other in others { release(other) }
            for area in areas {
                _ = takeAway(AgentCode.away(unmapping: area.range), by: thread, deadline)
            }
            return !hasForsaken
        }
        if !isGone { noteLeftBehind() }
    }

    private var hasForsaken: Bool {
        sharesNamespace
            && EarlierAgent.all(in: pid).contains { $0.isForsaken && $0.recorder == getpid() }
    }

    /// Repeats something until it succeeds; the program runs in between.
    ///
    /// - Returns: true if it succeeded.
    private func repeats(until deadline: MonotonicTime, _ action: () -> Bool) -> Bool {
        var interval = TimeSpan.milliseconds(1)
        while !action() {
            guard outcome == nil, postponed == nil, process.now < deadline, !isCalledOff
            else { return false }
            wait(atMost: interval) {
                serveAll()
                return isCalledOff || postponed != nil
            }
            interval = interval + interval
        }
        return true
    }

    /// - Returns: false: some other thread had no core to stop on, or is just inside our code.
    private func remove(_ code: Instrumentation, by deadline: MonotonicTime) -> Bool {
        let area = code.area
        guard let thread = stopAny(by: deadline) else {
            area.silence()
            noteLeftBehind()
            return true
        }
        defer { release(thread) }
        // A spare signal's handler that is set from here on would lack its stand-ins, and children
        // could see it.
        guard area.refuseSpare() else { return false }
        // First do what needs no stopped threads.
        let handler = area.position(Int(AgentCode.sampleHandler))
        let signals = area.signals
        for signal in signals {
            let away = AgentCode.away(restoring: signal, from: handler, nil)
            guard takeAway(away, by: thread, deadline) else {
                area.silence()
                note(.leftBehind)
                return true
            }
        }
        guard var others = stopAllOthers(than: thread) else { return false }
        let isOutOfMarks =
            marks?.isPlaced != true || isOutOfMarks(others + [thread], area)
        takeBackChanges(of: code)
        // A thread inside the area must find it when it comes back, and the area does no harm. The
        // same holds for signposts and marks: a thread may be inside one at any time.
        let hadSignposts = switchOffSignposts(code.hooks.signposts)
        let isStarted = !code.notesMain || area.border(.main) != nil
        let isToStay =
            !isIdle(code) || !isStarted || !isOutOfMarks || hadSignposts || process.sharesMemory
        let isEmpty =
            area.signals == signals && !lookForAnyone(besides: thread, of: &others, in: area.range)
        let abandoned = abandonedAreas(besides: thread, of: &others).filter { earlier in
            earlier.range != area.range && !earlier.mayHaveHandler(in: pid)
        }
        // No code leads to the area any more: a thread that is not inside cannot enter it, and need
        // not wait.
        for other in others { release(other) }
        for earlier in abandoned {
            _ = takeAway(AgentCode.away(unmapping: earlier.range), by: thread, deadline)
        }
        if isToStay {
            leaveBehind(code, isMeant: hadSignposts || !isOutOfMarks)
        } else if !isEmpty {
            return false
        } else {
            let ours = [area.unusedAlternates, area.islandRange, area.range].compactMap { $0 }
            let isGone = ours.allSatisfy {
                takeAway(AgentCode.away(unmapping: $0), by: thread, deadline)
            }
            if !isGone { note(.leftBehind) }
        }
        return true
    }

    /// True if no thread is on its way to our code, nor will return to it. This lasts only while no
    /// thread runs.
    private func isIdle(_ code: Instrumentation) -> Bool {
        code.area.isSettled && !code.hooks.isInUse && !code.area.hasPendingInitializers
            && !isAsked(code)
    }

    /// A thread that has ended meanwhile never answers.
    private func isAsked(_ code: Instrumentation) -> Bool {
        threads.values.contains { code.signals?.isUnderWay($0) == true && $0.counters() != nil }
    }

    private func leaveBehind(_ code: Instrumentation, isMeant: Bool) {
        code.area.silence()
        if isMeant { code.hooks.signposts.releaseMemory() } else { note(.leftBehind) }
    }

    /// No thread could be had for the removal. This does not matter if none is left.
    func noteLeftBehind() {
        if process.isZombie == false { note(.leftBehind) }
    }

    /// Restores the program's code wherever it leads to our stand-ins: at the places that we know,
    /// and at those that the area lists.
    private func takeBackChanges(of code: Instrumentation) {
        observer.rereadMappings(at: process.now)
        let sites =
            code.sites.union(CallSites.ownPlaces(in: observer.mappings.code))
            .union(code.area.hookedWords.keys)
        for site in sites {
            guard let word = TargetMemory(pid: pid).word(at: site),
                let original = AgentCode.original(of: word, at: site, ledTo: code.area.address)
            else { continue }
            putBack(original, at: site)
        }
        if let (address, word) = code.takeLinkerHook() { putBack(word, at: address) }
    }

    /// True if any thread is in our code, or may hold an address in the area. The program's code
    /// has been restored, so a thread that waits elsewhere cannot enter any more.
    ///
    /// - Parameter stopped: the stopped threads. Threads join them that waited when the others were
    ///   stopped and have run since, perhaps into our code.
    func lookForAnyone(
        besides led: TracedThread, of stopped: inout [TracedThread], in range: Range<UInt64>
    ) -> Bool {
        // In the stand-ins we wait while the program's handlers may run, and we call code that
        // returns there: so any address of theirs on a stack counts. Words that our own handler
        // left on stacks point elsewhere in the area; there only a handler's frame counts.
        let waiting = ChangedCode([AgentCode.standIns(at: range.lowerBound)])
        func isHere(_ thread: TracedThread, _ registers: Registers) -> Bool {
            range.contains(registers.programCounter) || isIn(waiting, thread, registers)
                || isInterrupted(in: range, thread, registers)
        }
        var isThere = false
        for thread in threads.values
        where thread.phase != .exited && !stopped.contains(where: { $0.tid == thread.tid }) {
            var activity = thread.activity()
            // A thread that was found running must be stopped, or found waiting: a nap in our code
            // is short.
            if case .running = activity, thread.tid != led.tid {
                if stopHarmlessly(thread) != nil {
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
        return isThere || !knowsAllThreads
            || (stopped + [led]).contains { thread in
                guard let position = try? thread.tracee.resumeAddress(),
                    let registers = try? thread.tracee.registers()
                else { return true }
                return range.contains(position) || isHere(thread, registers)
            }
    }

    /// Makes a stopped thread remove something, and then continue as if it had not. The call that
    /// it may have been in ends or restarts, according to what has happened meanwhile.
    private func takeAway(
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
        interruptAnywhere(thread)
        return (try? thread.tracee.resume()) != nil && stopNow(thread, by: deadline) != nil
    }
}
