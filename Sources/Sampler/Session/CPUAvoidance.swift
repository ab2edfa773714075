import CSystem
import ProcessIO
import ProfileModel

/// Keeps the sampler off the cores of threads that it looks at. One for all processes, because one
/// thread looks at all of them.
///
/// A thread that wakes up on a core in use displaces the thread that runs there. The kernel usually
/// wakes a thread where some core is idle, but not everywhere: it may leave us on a thread's core
/// for a whole launch, with another core idle all the time, and then each look takes the thread's
/// core from it.
final class CPUAvoidance {
    /// Moving does not help where all cores are in use, so the pauses grow.
    private static let pauses = TimeSpan.milliseconds(2)...TimeSpan.milliseconds(512)

    private var pause = CPUAvoidance.pauses.lowerBound
    private var lastMove: MonotonicTime?
    private var next: MonotonicTime?

    /// Whether it is worth finding out if a thread that had to wait for a core waits for ours. That
    /// costs some 10 µs.
    func isDue(at now: MonotonicTime) -> Bool { next.map { now >= $0 } ?? true }

    /// The thread is on another core.
    func looked(at now: MonotonicTime) { next = now + Self.pauses.lowerBound }

    /// We moved to another core. Soon having to do so again means that it was of no use.
    func moved(at now: MonotonicTime) {
        let helped = lastMove.map { now - $0 >= pause + pause + pause + pause } ?? true
        pause = helped ? Self.pauses.lowerBound : min(pause + pause, Self.pauses.upperBound)
        lastMove = now
        next = now + pause
    }

    /// Leaves the core of a thread that had to wait for one since the last tick, if it is ours.
    func leaveCore(
        of thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        let waited = thread.takeDelay(counters)
        guard waited > ThreadClock.worthAsking.nanoseconds, isDue(at: now) else {
            return
        }
        guard let core = thread.core, core == fl_own_core() else {
            return looked(at: now)
        }
        moved(at: now)
        // It fails where we have but one core.
        _ = fl_leave_core(core)
    }
}
