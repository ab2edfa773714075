import ProcessIO
import ProfileModel

/// Passing on what the scheduler tells.
extension ProcessSession {
    /// - Parameter isLast: nothing will be asked after this.
    func reportSchedule(isLast: Bool = false) {
        let records = scheduler.read(isLast: isLast, first: pid, since: stage.image?.start) {
            threads[$0] != nil
        }
        guard let records else { return }
        if !records.isEmpty { sink.receive(.scheduled(records)) }
        for record in records {
            let thread =
                threads[record.tid] ?? scheduler.leaving.first { $0.tid == record.tid }
                ?? othersThread?(record.tid)
            thread?.saw(record)
        }
        for thread in scheduler.takeEnded(isLast: isLast) {
            observer.closeAfterEnd(of: thread)
            end(thread, at: process.now)
        }
        if isLast, scheduler.unfollowed > 0 {
            ledger.note(.unfollowedThreads, scheduler.unfollowed)
        }
    }
}
