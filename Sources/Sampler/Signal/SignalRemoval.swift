import Glibc
import ProfileModel

/// Takes the signal capture out of the program again, by one of its own threads.
extension TraceSession {
    /// Leaves nothing behind in the program: one of its threads takes back the handler and the
    /// slots, on its way.
    func removeSignalCapture() {
        defer { signalCapture = nil }
        guard let capture = signalCapture, let installed else { return }
        // Requests that are under way are answered as soon as their threads get a core, and the
        // thread that made the slots is through with them then.
        let isIdle = wait(atMost: .milliseconds(50)) {
            capture.slots.isReady && !threads.values.contains { capture.isUnderWay($0) }
        }
        guard let thread = stopAny() else { return noteLeftBehind() }
        let others = stopOthers(than: thread)
        // Now that nobody runs: a moment ago somebody may have been about to set an action.
        let action = capture.slots.isDisplaced ? nil : installed.original
        let isUnused = isIdle && !isAnyoneInAgent(of: others)
        if !isUnused { note(.leftBehind) }
        hooks?.area.keepFiltered(capture.slots.isFiltered)
        do throws(SystemError) {
            for (site, word) in installed.hooked {
                try thread.tracee.write(words: [word], at: site)
            }
            let before = try installed.agent.removeSlots(
                at: isUnused ? capture.slots.address : 0, restoring: action, by: thread.tracee)
            for other in others { release(other) }
            giveBack(before, to: thread, installed.agent)
        } catch {
            note(.leftBehind)
            for other in others { release(other) }
        }
        release(thread)
    }

    /// Nobody could be had to take it away; that is no matter where nobody is left.
    func noteLeftBehind() {
        if files.stat().map({ !$0.isZombie }) == true { note(.leftBehind) }
    }

    /// Whether one of those, which are stopped, or of those that wait is in code of ours, and may
    /// hold an address in the slots.
    private func isAnyoneInAgent(of stopped: [TracedThread]) -> Bool {
        let ranges = [agent?.range, hooks?.area.range].compactMap { $0 }
        func isOurs(_ address: UInt64) -> Bool { ranges.contains { $0.contains(address) } }
        return threads.values.contains { thread in
            if stopped.contains(where: { $0.tid == thread.tid }) {
                return (try? thread.tracee.resumeAddress()).map(isOurs) ?? true
            }
            guard case .blocked(_, let registers) = thread.activity() else { return false }
            return isOurs(registers.programCounter)
        }
    }

    /// Lets the thread take everything back, and go on as if it had not: the call that it may have
    /// been in ends or is restarted by what has come up meanwhile.
    func giveBack(_ state: Tracee.State, to thread: TracedThread, _ agent: Agent) {
        // Bounded: it waits for some five milliseconds, and then goes back by itself.
        for _ in 0..<32 {
            guard (try? thread.tracee.resume()) != nil else { return }
            waitForCore(thread)
            guard let position = stopNow(thread), agent.range.contains(position) else { return }
            if agent.removedRange.contains(position) {
                try? thread.tracee.restore(state)
                return
            }
        }
    }
}
