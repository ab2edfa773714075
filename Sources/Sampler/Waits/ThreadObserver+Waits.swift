import ProfileModel

extension ThreadObserver {
    /// The thread is where it was at the last look.
    mutating func followWait(of thread: TracedThread, at now: MonotonicTime) {
        guard var wait = thread.wait else { return }
        waits.follow(&wait, of: thread.tid, at: now)
        thread.wait = wait
    }

    /// The thread's wait is over, after the sample that says so.
    mutating func endWait(of thread: TracedThread, at end: MonotonicTime) {
        guard let wait = thread.wait else { return }
        thread.wait = nil
        let found = waits.end(wait, of: thread.index, tid: thread.tid, at: end)
        if let found { sink.receive(.wait(found)) }
    }

    /// The thread is gone, and nothing of it can be read any more: it waited as long as it was
    /// seen to.
    mutating func closeWait(of thread: TracedThread) {
        guard let wait = thread.wait else { return }
        close(thread, at: wait.lastSeen)
    }

    /// How often priorities of threads that have had a core are looked at.
    private static let priorityInterval = TimeSpan.milliseconds(50)

    /// Tells the sink of a name that a young thread has taken: threads name themselves in their
    /// first milliseconds. Of later ones ``watchPriority(of:_:at:)`` hears.
    mutating func watchName(of thread: TracedThread, at now: MonotonicTime) {
        if thread.watchName(at: now, &nameBudget) { tellName(of: thread) }
    }

    private func tellName(of thread: TracedThread) {
        sink.receive(.threadNamed(thread.index, thread.name))
    }

    /// Tells the sink of a thread's priority: what it is at first, and when it has changed. What
    /// is read for that has its name, too.
    mutating func watchPriority(
        of thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        if let seen = thread.schedulingSeen {
            guard now - seen >= Self.priorityInterval, counters != thread.countersAtScheduling
            else { return }
        }
        thread.schedulingSeen = now
        thread.countersAtScheduling = counters
        let (scheduling, isRenamed) = thread.readStat()
        if isRenamed { tellName(of: thread) }
        guard let found = scheduling, found != thread.scheduling else { return }
        thread.scheduling = found
        sink.receive(
            .priority(
                Priority(
                    thread: thread.index, time: now, policy: found.policy, nice: found.nice,
                    realTime: found.realTime)))
    }
}
