import ProcessIO
import ProfileModel

/// The scheduler's reports on a session's threads, as long as it is asked.
struct ScheduleFollowing {
    /// nil: the scheduler does not report to us, or no longer.
    private var reader: SchedulerReader?
    /// Threads that ended untraced. They wait here until the scheduler has reported how they ended.
    private(set) var leaving: [TracedThread] = []
    /// How much the scheduler reported.
    private(set) var account: SchedulerAccount?
    /// How many threads the scheduler could not follow.
    private(set) var unfollowed: Int64 = 0
    /// When the last thread ended, if the scheduler reported the first one's end, too, and
    /// everything is read. Later, the kernel only takes apart the threads' resources, and we may
    /// have no core to hear of it.
    private(set) var exitTime: MonotonicTime?
    private var lastEnd: MonotonicTime?
    private var firstEnd: MonotonicTime?

    /// Whether the scheduler also reports processes that this one starts.
    var seesMachine: Bool { reader?.seesMachine ?? false }

    /// nil: the scheduler does not report to this session.
    var reading: ScheduleReading? { reader?.reading }
    var isReporting: Bool { reader != nil }

    mutating func begin(_ reader: SchedulerReader?) { self.reader = reader }

    /// Whether the process may have threads that it did not have at the last call.
    mutating func takeNewThreads() -> Bool { reader?.takeNewThreads() ?? false }

    /// A thread was found.
    mutating func follow(_ tid: Int32) { reader?.follow(tid) }

    /// A thread ended untraced. Returns false if no report will say how.
    mutating func awaitEnd(of thread: TracedThread) -> Bool {
        guard reader != nil else { return false }
        leaving.append(thread)
        return true
    }

    /// The reports since the last call; nil: the scheduler does not report.
    ///
    /// - Parameters:
    ///   - isLast: nothing will be asked after this.
    ///   - pid: the first thread.
    ///   - image: when the process's program began. A thread that executes a program gets the first one's id, and
    ///     that one ended before.
    ///   - isOwn: whether a thread is one of the process's that have not ended.
    mutating func read(
        isLast: Bool, first pid: Int32, since image: MonotonicTime?, isOwn: (Int32) -> Bool
    ) -> [SchedulerRecord]? {
        guard let records = reader?.read(isLast: isLast) else { return nil }
        for record in records { noteEnd(record, first: pid, isOwn) }
        if isLast, let reader {
            exitTime = firstEnd.flatMap { $0 >= image ?? $0 ? lastEnd : nil }
            account = reader.account
            unfollowed = reader.unfollowed
            self.reader = nil
        }
        return records
    }

    private mutating func noteEnd(
        _ record: SchedulerRecord, first pid: Int32, _ isOwn: (Int32) -> Bool
    ) {
        guard record.kind == .ended,
            record.tid == pid || isOwn(record.tid)
                || leaving.contains(where: { $0.tid == record.tid })
        else { return }
        lastEnd = max(lastEnd ?? record.time, record.time)
        if record.tid == pid { firstEnd = record.time }
    }

    /// Threads that have ended and that `/proc` no longer shows. The scheduler reports how they
    /// ended, a little later.
    ///
    /// - Returns: those that have ended, each once.
    mutating func takeEnded(isLast: Bool) -> [TracedThread] {
        let ended = leaving.filter { isLast || $0.tally.end != nil }
        leaving.removeAll { isLast || $0.tally.end != nil }
        return ended
    }
}
