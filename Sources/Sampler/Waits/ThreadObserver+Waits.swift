import ProcessIO
import ProfileModel

extension ThreadObserver {
    /// The thread still waits where it did at the last look.
    mutating func followWait(of thread: TracedThread, at now: MonotonicTime) {
        guard var wait = thread.wait else { return }
        waits.follow(&wait, of: thread.tid, at: now)
        thread.keep(wait)
    }

    /// The thread's wait is over. Call it after the sample that shows this.
    mutating func endWait(of thread: TracedThread, at end: MonotonicTime) {
        guard let wait = thread.endWait() else { return }
        let found = waits.end(wait, of: thread.index, tid: thread.tid, at: end)
        if let found { sink.receive(.wait(found)) }
    }

    /// The thread is gone, and nothing of it can be read any more: its wait counts up to the last
    /// look at it.
    mutating func closeWait(of thread: TracedThread) {
        guard let wait = thread.wait else { return }
        close(thread, at: wait.lastSeen)
    }

    /// Reports the new name of a young thread: threads name themselves in their first milliseconds.
    /// ``watchPriority(of:_:at:)`` reports later names.
    mutating func watchName(of thread: TracedThread, at now: MonotonicTime) {
        if thread.watchName(at: now, &nameBudget) { tellName(of: thread) }
    }

    private func tellName(of thread: TracedThread) {
        sink.receive(.threadNamed(thread.index, thread.name))
    }

    /// Reports a thread's priority: the first one, and every change. The same file has the thread's
    /// name, so that is watched, too.
    mutating func watchPriority(
        of thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        let (priority, isRenamed) = thread.readStat(counters, at: now)
        if isRenamed { tellName(of: thread) }
        guard let found = priority else { return }
        sink.receive(
            .priority(
                Priority(
                    thread: thread.index, time: now, policy: found.policy, nice: found.nice,
                    realTime: found.realTime)))
    }
}
