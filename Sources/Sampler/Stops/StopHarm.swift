import Architecture
import ProcessIO
import ProfileModel

/// Tells what harm a stop or a signal could do to a thread, or to others.
struct StopHarm: SessionPart {
    let context: SessionContext

    /// Whether a stop of it could end other threads' waits: see ``RecentForks``.
    func mayHarmOthers(_ thread: TracedThread) -> Bool {
        threads.count > 1 && (hasForkedLately(thread) || context.looksForChildren > 0)
    }

    private func hasForkedLately(_ thread: TracedThread) -> Bool {
        thread.lookForForks(at: process.now)
    }

    /// Looks for threads that fork. In a program that runs already, these show only after some
    /// looks, because their children may live only for a moment. Until that is known, any thread
    /// may be one that forks.
    func lookForChildren() {
        guard context.looksForChildren > 0 else { return }
        for thread in threads.values { _ = hasForkedLately(thread) }
        context.looksForChildren -= 1
    }

    /// Whether a signal that stops the thread in its own code could surface in one of its sigwait
    /// calls. It is unknown whether the thread waits in one; this shows as soon as the thread has
    /// had a core.
    func isInDoubt(_ thread: TracedThread) -> Bool {
        guard !thread.tracing.isLed, context.capture == .untraced || thread.burst.hasWaitedFragile,
            case .running = thread.activity()
        else { return false }
        return !thread.readMask() && someBlockOurs
    }

    /// Reads which signals the first thread blocks now. Every signal that a thread was ever found
    /// to block counts when we choose a signal that may stop it in its own code, and a thread that
    /// waits for signals shows its mask only between two waits. Needed where our handler is in the
    /// program: the thread may be asked by signal, too.
    func lookAtFirstMask() {
        guard signalCapture != nil else { return }
        _ = threads[pid]?.status()
    }

    /// Whether a thread whose own mask is not known may have inherited one that blocks our signals.
    /// A program that waits for signals in one thread blocks them in the others, too.
    var someBlockOurs: Bool {
        threads.values.contains { thread in
            thread.statuses.hasBlockedOurs
                || thread.tid == pid && thread.status()?.blocksOurs == true
        }
    }

    /// Whether a signal or a stop may find the thread in a call that then returns less than the
    /// program asked for. Needed where no events show what a thread does.
    func mayMeetLongCall(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        thread.calls.mayMeetLongCall(at: now) || context.endlessFiles.areOpen(at: now)
    }

    /// Whether a stop of a thread that waits in this call lets the call go on afterwards.
    func endsNoCall(_ call: Int32, _ registers: Registers) -> Bool {
        call >= 0 && RestartingCalls.kind(of: call, registers, process: process) < .fragile
    }
}
