import ProfileModel

/// Passing on what the scheduler tells.
extension TraceSession {
    /// - Parameter isLast: nothing is asked any more.
    func reportSchedule(isLast: Bool = false) {
        guard let records = schedule?.read(isLast: isLast) else { return }
        if !records.isEmpty { sink.receive(.scheduled(records)) }
        if isLast {
            exitTime = records.last { $0.tid == pid && $0.kind == .ended }?.time
        }
        guard isLast, let schedule else { return }
        account = schedule.account
        if schedule.unfollowed > 0 { notes[.unfollowedThreads] = schedule.unfollowed }
        self.schedule = nil
    }
}
