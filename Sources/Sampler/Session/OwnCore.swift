import CSystem
import ProfileModel

/// Keeps the sampler off the cores of threads that it looks at.
///
/// Whoever wakes up on a core that is in use pushes off who runs there. The kernel usually wakes a
/// thread where some core is idle, but not everywhere: it may leave us on a thread's core for a
/// whole launch, with another core idle all the time, and then each look takes the thread's core
/// from it.
struct OwnCore: Hashable, Sendable {
    /// Where all cores are in use, moving helps nobody.
    private static let pauses = TimeSpan.milliseconds(2)...TimeSpan.milliseconds(512)

    private var pause = Self.pauses.lowerBound
    private var lastMove: MonotonicTime?

    /// Whether it is worth finding out if a thread that had to wait for a core waits for ours.
    func isDue(at now: MonotonicTime) -> Bool {
        lastMove.map { now - $0 >= pause } ?? true
    }

    /// We moved to another core. Soon having to do so again means that it was of no use.
    mutating func moved(at now: MonotonicTime) {
        let helped = lastMove.map { now - $0 >= pause + pause + pause + pause } ?? true
        pause = helped ? Self.pauses.lowerBound : min(pause + pause, Self.pauses.upperBound)
        lastMove = now
    }
}

extension TraceSession {
    /// Leaves the core of a thread that had to wait for one, if it is ours.
    func leaveCore(
        of thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        guard thread.clock.delay(since: counters) > ThreadClock.worthAsking,
            ownCore.isDue(at: now), let core = thread.core, core == fl_own_core()
        else { return }
        ownCore.moved(at: now)
        // It fails where we have but one core.
        _ = fl_leave_core(core)
    }
}
