import CSystem
import Glibc
import ProfileModel

/// Takes the area out of the program again, by one of its own threads.
extension TraceSession {
    /// Leaves nothing behind in the program: one of its threads takes the handler and the area away,
    /// on its way.
    func removeArea() {
        guard let image = stage.image, let code = image.instrumentation else { return }
        defer { image.instrumentation = nil }
        let area = code.area
        // Requests that are under way are answered as soon as their threads get a core.
        wait(atMost: .milliseconds(50)) { isIdle(code) }
        guard let thread = stopAny() else {
            area.silence()
            return noteLeftBehind()
        }
        guard var others = stopAllOthers(than: thread) else {
            area.silence()
            release(thread)
            return noteLeftBehind()
        }
        let isOutOfMarks =
            marks?.isPlaced != true || isOutOfMarks(others + [thread], area)
        takeBackChanges(of: code)
        // Who is in it must find it when it comes back; and it does no harm. So it is with
        // signposts and marks: somebody may be in the midst of one at any time.
        let hadSignposts = switchOffSignposts(code.hooks.signposts)
        let isStarted = !code.notesMain || area.border(.main) != nil
        let isUnused =
            isIdle(code) && isStarted && isOutOfMarks && !hadSignposts
            && !isAnyone(besides: thread, of: &others, in: area) && !process.sharesMemory
        if !isUnused { leaveBehind(code, isMeant: hadSignposts || !isOutOfMarks) }
        let isBack = takeAway(area, isUnused: isUnused, thread)
        for other in others { release(other) }
        if !isBack, isUnused { note(.leftBehind) }
        release(thread)
    }

    /// Whether nobody is on the way to our code, or will come back to it; that is so for good only
    /// while nobody runs.
    private func isIdle(_ code: Instrumentation) -> Bool {
        code.area.isSettled && !code.hooks.isInUse && !code.area.hasPendingInitializers
            && !threads.values.contains { code.signals?.isUnderWay($0) == true }
    }

    private func leaveBehind(_ code: Instrumentation, isMeant: Bool) {
        code.area.silence()
        if isMeant { code.hooks.signposts.releaseMemory() } else { note(.leftBehind) }
    }

    /// Nobody could be had to take it away; that is no matter where nobody is left.
    func noteLeftBehind() {
        if process.isZombie == false { note(.leftBehind) }
    }

    /// The program's code is what it was, wherever it leads to our stand-ins: where we know that it
    /// does, and where the area says so.
    private func takeBackChanges(of code: Instrumentation) {
        observer.rereadMappings(at: process.now)
        let sites =
            code.sites.union(CallSites.ownPlaces(in: observer.mappings.code))
            .union(code.area.hookedWords.keys)
        for site in sites {
            guard let word = TargetMemory(pid: pid).word(at: site),
                let original = AreaCode.original(of: word, at: site, ledTo: code.area.address)
            else { continue }
            putBack(original, at: site)
        }
        if let (address, word) = code.takeLinkerHook() { putBack(word, at: address) }
    }

    /// Whether anybody is in code of ours, and may hold an address in the area. The program's code is
    /// its own again: who waits elsewhere cannot come there any more.
    ///
    /// - Parameter stopped: those that are; joined by those that waited until the others were, and
    ///   have gone on since, into our code perhaps.
    func isAnyone(
        besides led: TracedThread, of stopped: inout [TracedThread], in area: Area
    ) -> Bool {
        let range = area.range
        // Only there do we wait with the program's handlers open: one may run now, and return there.
        // What our own handler left on stacks leads elsewhere in the area.
        let waiting = ChangedCode([AreaCode.standIns(of: area)])
        var isThere = false
        for thread in threads.values where !stopped.contains(where: { $0.tid == thread.tid }) {
            if case .blocked(_, let registers) = thread.activity() {
                isThere =
                    isThere || range.contains(registers.programCounter)
                    || isIn(waiting, thread, registers)
            } else if thread.tid != led.tid, isRunning(thread) {
                if stopNow(thread) != nil { stopped.append(thread) } else { isThere = true }
            }
        }
        return isThere
            || (stopped + [led]).contains { thread in
                guard let position = try? thread.tracee.resumeAddress(),
                    let registers = try? thread.tracee.registers()
                else { return true }
                return range.contains(position) || isIn(waiting, thread, registers)
            }
    }

    /// Lets a stopped thread take everything away, and go on as if it had not: the call that it may
    /// have been in ends or is restarted by what has come up meanwhile.
    ///
    /// - Parameter isUnused: else the area itself stays.
    private func takeAway(_ area: Area, isUnused: Bool, _ thread: TracedThread) -> Bool {
        guard let cave = ImageStart(pid: pid).anyCave else { return false }
        let handler = area.position(Int(AreaCode.sampleHandler))
        let signals = area.signals
        // A step takes away one of each.
        for signal in signals.dropFirst() {
            let code = AreaCode.away(restoring: signal, from: handler, nil)
            guard run(code, at: cave, by: thread) else { return false }
        }
        if isUnused, let island = area.islandRange {
            let code = AreaCode.away(restoring: nil, from: handler, island)
            guard run(code, at: cave, by: thread) else { return false }
        }
        let last = AreaCode.away(
            restoring: signals.first, from: handler, isUnused ? area.range : nil)
        return run(last, at: cave, by: thread)
    }

    /// Lets a stopped thread run a piece of ours that stands in a cave, and stops it again where it
    /// was. It comes back by itself when we do not.
    func run(_ code: [UInt8], at cave: UInt64, by thread: TracedThread) -> Bool {
        let before = TargetMemory(pid: pid).read(at: cave, count: code.count)
        guard before.count == code.count, !AreaCode.isPiece(before),
            TargetMemory(pid: pid).write(code, at: cave),
            let state = try? thread.tracee.divert(to: cave)
        else { return false }
        // Bounded: it waits for some five milliseconds, and then goes back by itself.
        let end = cave &+ UInt64(code.count)
        var isBack = false
        let deadline = process.now + .milliseconds(1000)
        for _ in 0..<32 {
            guard (try? thread.tracee.resume()) != nil else { return false }
            waitForCore(thread)
            // What it waits in is ours.
            interruptAnywhere(thread)
            guard let position = stopNow(thread, by: deadline) else { return false }
            guard (cave..<end).contains(position) else {
                isBack = true
                break
            }
            if AreaCode.isAwayWaiting(position, piece: cave) {
                try? thread.tracee.restore(state)
                isBack = true
                break
            }
        }
        // Whoever is still in it needs it.
        if isBack { TargetMemory(pid: pid).write(before, at: cave) }
        return isBack
    }
}
