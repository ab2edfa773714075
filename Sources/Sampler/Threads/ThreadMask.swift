import Architecture
import ProcessIO

/// Whether the blocked signals in a thread's `status` are the thread's own mask.
///
/// sigwait(3) and its like unblock the signals that they wait for until they return. A thread that
/// was woken from there, and has had no core since, counts as running, and its mask as open: a
/// signal of ours would wait for it, and surface in its next sigwait.
struct ThreadMask: Sendable {
    /// As it was seen when the thread was certainly back from its last wait.
    private var own: UInt64?
    /// The thread's latest wait, by how often it has waited, and how often it had had a core when that
    /// was first seen.
    private var wait: (voluntary: Int64, timeslices: Int64)?
    private(set) var isOwn = false

    init() {}

    /// - Parameter timeslices: how often it had had a core, read before the status; 0: not counted.
    mutating func saw(_ status: ThreadStatus, timeslices: Int64) {
        let known = wait.flatMap { $0.voluntary == status.voluntary ? $0 : nil }
        wait = known ?? (status.voluntary, timeslices)
        // A thread leaves a core, by itself or not, as often as it gets one; a thread on a core has
        // left once less.
        let hasCore = timeslices > status.voluntary &+ status.forced
        let hasHadCore = known.map { $0.timeslices != timeslices } ?? false
        if timeslices == 0 || hasCore || hasHadCore { own = status.blockedSignals }
        isOwn = own == status.blockedSignals
    }

    /// The same for a thread that was asleep before and after the status was read.
    ///
    /// - Parameter call: in which it sleeps.
    mutating func sawAsleep(_ status: ThreadStatus, in call: Int32) {
        if let call = SystemCall(rawValue: call), Self.unblocking.contains(call) { return }
        own = status.blockedSignals
        isOwn = true
    }

    /// Calls that have a mask of their own while they wait.
    private static let unblocking: Set<SystemCall> = [
        .rt_sigtimedwait, .rt_sigsuspend, .pselect6, .ppoll, .epoll_pwait, .io_pgetevents,
        .io_uring_enter, .epoll_pwait2,
    ]

    mutating func forget() {
        own = nil
        isOwn = false
    }
}
