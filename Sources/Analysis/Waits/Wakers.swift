import ProfileModel

/// Who ended waits: as the scheduler told, and where it did not, who held the lock.
struct Wakers {
    private let schedule: Schedule
    private let threads: [RecordedThread]
    private let children: [ChildProcess]
    private let ended: MonotonicTime?
    private let tolerance: TimeSpan

    init(_ recording: Recording, _ schedule: Schedule) {
        self.schedule = schedule
        threads = recording.threads
        children = recording.children
        ended = recording.marks.last { $0.kind == .ended }?.time
        tolerance = recording.header.tolerance
    }

    /// nil: nobody in particular, or not known.
    func waker(of wait: Wait) -> Waker? {
        // It went on when the recording ended.
        if let ended, wait.end >= ended { return nil }
        // The end of a traced child is told by its tracer.
        if let child = endedChild(during: wait) {
            return Waker(tid: child, name: name(of: child, ending: wait))
        }
        if let wakeup = nearest(to: wait) {
            return wakeup.isInterrupt || wakeup.waker <= 0
                ? nil : Waker(tid: wakeup.waker, name: name(of: wakeup, ending: wait))
        }
        guard let owner = wait.reason.owner else { return nil }
        return Waker(tid: owner, name: name(of: owner, ending: wait))
    }

    /// The recording's own child for whose end a thread waited, if it ended meanwhile.
    private func endedChild(during wait: Wait) -> Int32? {
        guard wait.reason.kind == .child, let owner = wait.reason.owner else { return nil }
        let hasEnded = children.contains { child in
            guard child.pid == owner, let end = child.end else { return false }
            return wait.start <= end && end <= wait.end + tolerance
        }
        return hasEnded ? owner : nil
    }

    /// By what is known of it here, rather than by its name of that moment.
    private func name(of wakeup: Wakeup, ending wait: Wait) -> String? {
        let isOwner = wakeup.waker == wait.reason.owner
        if isOwner || wakeup.wakerThread != nil, let known = name(of: wakeup.waker, ending: wait) {
            return known
        }
        return wakeup.wakerName.isEmpty ? nil : wakeup.wakerName
    }

    private func name(of owner: Int32, ending wait: Wait) -> String? {
        if wait.reason.kind == .child, owner == wait.reason.owner { return wait.reason.detail }
        // Thread ids are used again: the last that had it by then.
        return threads.last { $0.tid == owner && $0.start <= wait.end }?.name
    }

    /// The wakeup that comes nearest to a wait's end.
    private func nearest(to wait: Wait) -> Wakeup? {
        let near = schedule.wakeups(of: wait.thread.rawValue, around: wait.end)
        let best = near.min { distance($0, wait) < distance($1, wait) }
        return best.flatMap { distance($0, wait) <= tolerance ? $0 : nil }
    }

    private func distance(_ wakeup: Wakeup, _ wait: Wait) -> TimeSpan {
        TimeSpan(nanoseconds: abs((wakeup.time.clamped - wait.end).nanoseconds))
    }
}
