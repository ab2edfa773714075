import ProcessIO
import ProfileModel

/// Passes on the scheduler's reports.
struct ScheduleReports: SessionPart {
    let context: SessionContext
    let register: ThreadRegister

    /// - Parameter isLast: nothing will be asked after this.
    func reportSchedule(isLast: Bool = false) {
        let records = context.scheduler.read(isLast: isLast, first: pid, since: stage.image?.start)
        {
            threads[$0] != nil
        }
        guard let records else { return }
        if !records.isEmpty { sink.receive(.scheduled(records)) }
        for record in records {
            let thread =
                threads[record.tid] ?? context.scheduler.leaving.first { $0.tid == record.tid }
                ?? context.othersThread?(record.tid)
            thread?.saw(record)
        }
        for thread in context.scheduler.takeEnded(isLast: isLast) {
            observer.closeAfterEnd(of: thread)
            register.end(thread, at: process.now)
        }
        if isLast, context.scheduler.unfollowed > 0 {
            ledger.note(.unfollowedThreads, context.scheduler.unfollowed)
        }
    }
}
