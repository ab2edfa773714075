import Agent
import Glibc
import ProcessIO
import ProfileModel

/// Removes the area from the program again. One of the program's own threads does so.
struct AgentRemoval: SessionPart {
    let context: SessionContext
    let signposts: SignpostReports
    let resumption: ThreadResumption
    let stopper: ThreadStopper
    let codeUse: CodeUse
    let patcher: CodePatcher
    let earlierAgents: EarlierAgentRemoval
    let diversion: ThreadDiversion

    /// Leaves nothing behind in the program: one of its threads removes the handler and the area. A
    /// program that is short of cores gets one sooner or later: we wait for it.
    func removeArea(by deadline: MonotonicTime) {
        guard let image = stage.image, let code = image.instrumentation else { return }
        defer { image.instrumentation = nil }
        context.wait(atMost: .milliseconds(50)) { isIdle(code) }
        // Threads answer open requests as soon as they get a core.
        let forAnswers = deadline - process.now - Self.timeToRemove
        context.wait(atMost: max(.zero, forAnswers)) { !isAsked(code) || context.isCalledOff }
        guard repeats(until: deadline, { remove(code, by: deadline) }) else {
            code.area.silence()
            return context.noteLeftBehind()
        }
    }

    /// How much time is reserved for the removal itself, even if threads have not answered.
    private static let timeToRemove = TimeSpan.milliseconds(1000)

    /// If the other threads did not stop in time, the diverted thread waited in vain, and
    /// continued. Its mapping does no harm, but it is ours to remove.
    func removeForsaken(by deadline: MonotonicTime) {
        guard stage.image != nil else { return }
        // Waiting for an entry may have used up the time.
        let deadline = max(deadline, process.now + ThreadStopper.stopPatience)
        let isGone = repeats(until: deadline) {
            guard hasForsaken else { return true }
            // A thread that cannot be stopped by then will not be stopped at all.
            guard let thread = diversion.stopAny(by: deadline) else {
                context.noteLeftBehind()
                return true
            }
            defer { resumption.release(thread) }
            guard var others = stopper.stopAllOthers(than: thread) else { return false }
            let areas = earlierAgents.abandonedAreas(besides: thread, of: &others)
            for other in others { resumption.release(other) }
            for area in areas {
                _ = diversion.takeAway(AgentCode.away(unmapping: area.range), by: thread, deadline)
            }
            return !hasForsaken
        }
        if !isGone { context.noteLeftBehind() }
    }

    private var hasForsaken: Bool {
        context.sharesNamespace
            && EarlierAgent.all(in: process).contains { $0.isForsaken && $0.recorder == getpid() }
    }

    /// Repeats something until it succeeds; the program runs in between.
    ///
    /// - Returns: true if it succeeded.
    private func repeats(until deadline: MonotonicTime, _ action: () -> Bool) -> Bool {
        var interval = TimeSpan.milliseconds(1)
        while !action() {
            guard context.outcome == nil, context.postponed == nil, process.now < deadline,
                !context.isCalledOff
            else { return false }
            context.wait(atMost: interval) {
                stopper.serveAll()
                return context.isCalledOff || context.postponed != nil
            }
            interval = interval + interval
        }
        return true
    }

    /// - Returns: false: another thread had no core to stop on, or is inside our code; or the
    ///   diverted thread did not come back from a removal.
    private func remove(_ code: Instrumentation, by deadline: MonotonicTime) -> Bool {
        let area = code.area
        guard let thread = diversion.stopAny(by: deadline) else {
            area.silence()
            context.noteLeftBehind()
            return true
        }
        defer { resumption.release(thread) }
        // A spare signal's handler that is set from here on would lack its stand-ins, and children
        // could see it.
        guard area.refuseSpare() else { return false }
        if diversion.isCaveTaken, !clearCave(besides: thread) { return false }
        // First do the work that needs no stopped threads.
        let handler = area.position(Int(AgentCode.sampleHandler))
        let signals = area.signals
        for signal in signals {
            let away = AgentCode.away(restoring: signal, from: handler, nil)
            guard diversion.takeAway(away, by: thread, deadline) else { return false }
        }
        guard var others = stopper.stopAllOthers(than: thread) else { return false }
        let isOutOfMarks =
            marks?.isPlaced != true || isOutOfMarks(others + [thread], area)
        takeBackChanges(of: code)
        // A thread inside the area must find it when it comes back, and the area does no harm. The
        // same holds for signposts and marks: a thread may be inside one at any time.
        let hadSignposts = signposts.switchOffSignposts(code.hooks.signposts)
        let isStarted = !code.notesMain || area.border(.main) != nil
        let isToStay =
            !isIdle(code) || !isStarted || !isOutOfMarks || hadSignposts || process.sharesMemory
        let isEmpty =
            area.signals == signals
            && !earlierAgents.lookForAnyone(besides: thread, of: &others, in: area.range)
        let abandoned = earlierAgents.abandonedAreas(besides: thread, of: &others).filter {
            earlier in
            earlier.range != area.range && !earlier.mayHaveHandler(in: process)
        }
        // No code leads to the area any more: a thread that is not inside cannot enter it, and need
        // not wait.
        for other in others { resumption.release(other) }
        for earlier in abandoned {
            _ = diversion.takeAway(AgentCode.away(unmapping: earlier.range), by: thread, deadline)
        }
        if isToStay {
            leaveBehind(code, isMeant: hadSignposts || !isOutOfMarks)
        } else if !isEmpty {
            return false
        } else {
            let ours = [area.unusedAlternates, area.islandRange, area.range].compactMap { $0 }
            let isGone = ours.allSatisfy {
                diversion.takeAway(AgentCode.away(unmapping: $0), by: thread, deadline)
            }
            if !isGone { note(.leftBehind) }
        }
        return true
    }

    /// Removes the piece that an earlier try left.
    ///
    /// - Returns: false: another thread had no core to stop on.
    private func clearCave(besides thread: TracedThread) -> Bool {
        guard let others = stopper.stopAllOthers(than: thread) else { return false }
        earlierAgents.clearCave(ImageStart(of: process), stopped: others + [thread])
        for other in others { resumption.release(other) }
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

    /// Restores the program's code wherever it leads to our stand-ins: at the places that we know,
    /// and at those that the area lists.
    private func takeBackChanges(of code: Instrumentation) {
        observer.rereadMappings(at: process.now)
        let sites =
            code.sites.union(CallSites.ownPlaces(in: observer.mappings.code))
            .union(code.area.hookedWords.keys)
        for site in sites {
            guard let word = process.memory.word(at: site),
                let original = AgentCode.original(of: word, at: site, ledTo: code.area.address)
            else { continue }
            patcher.putBack(original, at: site)
        }
        if let (address, word) = code.takeLinkerHook() { patcher.putBack(word, at: address) }
    }

    /// True if no thread is in our code for marks, nor would return to it, now that no jump leads
    /// there any more.
    private func isOutOfMarks(_ stopped: [TracedThread], _ area: AgentMemory) -> Bool {
        guard let marks, marks.isPlaced, marks.placed.isEmpty else { return false }
        return codeUse.isUnused(
            ChangedCode([area.range] + (area.islandRange.map { [$0] } ?? [])), by: stopped)
    }
}
