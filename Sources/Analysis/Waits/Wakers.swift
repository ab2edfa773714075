import ProfileModel

/// Finds the thread that ended a wait: from the scheduler's account; otherwise it is the lock's
/// holder.
struct Wakers {
    private let schedule: RecordedSchedule
    private let threads: [RecordedThread]
    /// The positions of the threads with each id, which the kernel may reuse.
    private let threadsByID: [Int32: [Int]]
    private let children: [ChildProcess]
    private let ended: MonotonicTime?
    private let tolerance: TimeSpan

    init(_ recording: Recording, _ schedule: RecordedSchedule) {
        self.schedule = schedule
        threads = recording.threads
        threadsByID = Dictionary(grouping: threads.indices) { [threads] in threads[$0].tid }
        children = recording.children
        ended = recording.borders.last { $0.kind == .ended }?.time
        tolerance = recording.header.tolerance
    }

    /// nil: no thread ended it, or not known.
    func waker(of wait: Wait) -> Waker? {
        // The wait was still going on when the recording ended.
        if let ended, wait.end >= ended { return nil }
        // Time ended the wait. The thread on the core of the timer's interrupt did not end it, nor
        // did a thread that woke this one soon afterwards.
        if wait.reason.kind == .sleep || wait.reason.isTimedOut { return nil }
        // A traced child's tracer reports its end.
        if let child = endedChild(during: wait) {
            return Waker(tid: child, name: name(of: child, ending: wait))
        }
        let thread = wait.thread.rawValue
        let wakeup =
            wait.start < wait.end
            ? schedule.wakeup(endingMostOf: wait.start..<wait.end, of: thread) : nil
        if let wakeup = wakeup
            ?? schedule.wakeup(of: thread, nearestTo: wait.end, most: tolerance)
        {
            return wakeup.isInterrupt || wakeup.waker <= 0
                ? nil : Waker(tid: wakeup.waker, name: name(of: wakeup, ending: wait))
        }
        guard let owner = wait.reason.owner else { return nil }
        return Waker(tid: owner, name: name(of: owner, ending: wait))
    }

    /// Whether a thread of the same process ended a wait, and not a device's interrupt.
    func isPeer(_ waker: Waker, of wait: Wait) -> Bool {
        guard threads.indices.contains(wait.thread.rawValue) else { return false }
        let thread = threads[wait.thread.rawValue]
        return thread.tid != waker.tid
            && threadsByID[waker.tid]?.last { threads[$0].start <= wait.end }
                .map { threads[$0].child == thread.child } ?? false
    }

    /// The recorded child whose end a thread waited for, if it ended during the wait.
    private func endedChild(during wait: Wait) -> Int32? {
        guard wait.reason.kind == .child, let owner = wait.reason.owner else { return nil }
        let hasEnded = children.contains { child in
            guard child.pid == owner, let end = child.end else { return false }
            return wait.start <= end && end <= wait.end + tolerance
        }
        return hasEnded ? owner : nil
    }

    /// Prefers the name known here to the thread's name at that moment.
    private func name(of wakeup: Wakeup, ending wait: Wait) -> String? {
        let isOwner = wakeup.waker == wait.reason.owner
        if isOwner || wakeup.wakerThread != nil, let known = name(of: wakeup.waker, ending: wait) {
            return known
        }
        return wakeup.wakerName.isEmpty ? nil : wakeup.wakerName
    }

    private func name(of owner: Int32, ending wait: Wait) -> String? {
        if wait.reason.kind == .child, owner == wait.reason.owner { return wait.reason.detail }
        // The last thread that had the id by then.
        return threadsByID[owner]?.last { threads[$0].start <= wait.end }.map { threads[$0].name }
    }
}
