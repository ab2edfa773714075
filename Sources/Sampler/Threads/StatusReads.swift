import Architecture
import ProcessIO

/// A thread's status in `/proc`, read no more often than needed: it is the slowest of these files
/// to read (8 µs).
final class StatusReads {
    private let access: any ThreadAccess
    private var last: ThreadStatus?
    private var mask = ThreadMask()
    private var timeslices: Int64 = -1
    private var uses = 0
    /// How often threads had announced to block the sampling signal when the status was read.
    private(set) var masks: UInt32 = 0
    /// Whether some thread was about to block it then.
    private(set) var wasMasking = false
    /// Whether the thread was ever seen to block a signal that we could send it.
    private(set) var hasBlockedOurs = false

    init(_ access: any ThreadAccess) { self.access = access }

    /// Whether the recent status shows the thread's own mask, and not that of a call in which it waits.
    var knowsMask: Bool { mask.isOwn }

    /// The status. It is read anew if the thread has had a core since and may have waited, and now and
    /// then.
    ///
    /// - Parameters:
    ///   - isAtWork: whether the thread seldom waits.
    ///   - looks: for how many looks a status may be used at most.
    func recent(_ counters: SchedulerCounters, isAtWork: Bool, looks: Int = 1) -> ThreadStatus? {
        let isRecent = (counters.timeslices == timeslices || isAtWork) && mask.isOwn
        if isRecent, uses < looks, last != nil {
            uses += 1
            return last
        }
        last = access.status()
        if let last { mask.saw(last, timeslices: counters.timeslices) }
        hasBlockedOurs = hasBlockedOurs || last?.blocksOurs == true
        timeslices = counters.timeslices
        uses = 1
        return last
    }

    /// Takes the announcements that threads have made so far.
    ///
    /// - Parameter mayChange: whether our knowledge of masks may be out of date.
    func saw(masks: UInt32, isMasking: Bool, mayChange: Bool) {
        if mayChange || self.masks != masks || wasMasking { forgetMask() }
        self.masks = masks
        wasMasking = isMasking
    }

    /// Forgets the mask, because some thread is about to block the sampling signal, or has.
    private func forgetMask() {
        forget()
        mask.forget()
    }

    func forget() { last = nil }

    /// Forgets a status that was read before the thread had its latest core.
    func forget(before counters: SchedulerCounters) {
        if counters.timeslices != timeslices { forget() }
    }

    /// Learns the mask of a thread that sleeps, if it is not known.
    ///
    /// - Parameter counters: its counters when it fell asleep.
    func learnMask(asleepIn call: Int32, _ counters: SchedulerCounters) {
        guard !mask.isOwn, counters.timeslices > 0, let status = access.status(),
            access.counters()?.timeslices == counters.timeslices
        else { return }
        mask.sawAsleep(status, in: call)
        hasBlockedOurs = hasBlockedOurs || status.blocksOurs
    }
}

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
