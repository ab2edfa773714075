import ProfileModel

/// What the scheduler tells of a session's threads, as long as it is asked.
struct ScheduleFollowing {
    /// nil: it does not tell us, or any more.
    private var schedule: Schedule?
    /// Threads that ended untraced, until the scheduler has told how.
    private(set) var leaving: [TracedThread] = []
    /// How much it told.
    private(set) var account: SchedulerAccount?
    /// Threads that it could not follow.
    private(set) var unfollowed: Int64 = 0
    /// When the first thread ended, if the scheduler told; what comes later is the kernel's taking
    /// apart of what it had.
    private(set) var exitTime: MonotonicTime?

    /// Whether it tells of processes that this one starts, too.
    var seesMachine: Bool { schedule?.seesMachine ?? false }

    mutating func begin(_ schedule: Schedule?) { self.schedule = schedule }

    /// A thread was found.
    mutating func follow(_ tid: Int32) { schedule?.follow(tid) }

    /// A thread ended untraced. false: nobody will tell how.
    mutating func awaitEnd(of thread: TracedThread) -> Bool {
        guard schedule != nil else { return false }
        leaving.append(thread)
        return true
    }

    /// What happened since the last call; nil: nobody tells.
    ///
    /// - Parameters:
    ///   - isLast: nothing is asked any more.
    ///   - pid: the first thread.
    mutating func read(isLast: Bool, first pid: Int32) -> [SchedulerRecord]? {
        guard let records = schedule?.read(isLast: isLast) else { return nil }
        if isLast, let schedule {
            exitTime = records.last { $0.tid == pid && $0.kind == .ended }?.time
            account = schedule.account
            unfollowed = schedule.unfollowed
            self.schedule = nil
        }
        return records
    }

    /// Threads of which `/proc` tells nothing any more end as the scheduler tells; it does so a
    /// little later.
    ///
    /// - Returns: those that have ended, each once.
    mutating func takeEnded(isLast: Bool) -> [TracedThread] {
        let ended = leaving.filter { isLast || $0.tally.end != nil }
        leaving.removeAll { isLast || $0.tally.end != nil }
        return ended
    }
}
