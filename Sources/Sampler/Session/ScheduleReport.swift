import ProfileModel

/// Passing on what the scheduler tells.
extension TraceSession {
    /// - Parameter isLast: nothing is asked any more.
    func reportSchedule(isLast: Bool = false) {
        guard let records = schedule?.read(isLast: isLast) else { return }
        if !records.isEmpty { sink.receive(.scheduled(records)) }
        for record in records {
            let thread = threads[record.tid] ?? leaving.first { $0.tid == record.tid }
            thread?.tally.take(record, after: thread?.clock.time ?? record.time)
        }
        finishLeaving(isLast: isLast)
        if isLast {
            exitTime = records.last { $0.tid == pid && $0.kind == .ended }?.time
        }
        guard isLast, let schedule else { return }
        account = schedule.account
        if schedule.unfollowed > 0 { notes[.unfollowedThreads] = schedule.unfollowed }
        self.schedule = nil
    }

    /// Threads of which `/proc` tells nothing any more end as the scheduler tells; it does so a
    /// little later.
    private func finishLeaving(isLast: Bool) {
        leaving.removeAll { thread in
            guard thread.tally.end != nil || isLast else { return false }
            observer.closeAfterEnd(of: thread)
            end(thread, at: .now)
            return true
        }
    }
}
