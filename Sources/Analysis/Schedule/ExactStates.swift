import ProfileModel

/// Divides a thread's waiting for a core by the scheduler's own account: the time after a wake-up,
/// and the time after a preemption. The kernel's counters have only the sum of both, and only when
/// the wait is over: until then the thread seems to be blocked. The rest of a slice is unchanged.
struct ExactStates {
    private let schedule: RecordedSchedule
    private let isExact: Bool
    /// For each thread, the first run that may still be needed.
    private var next: [Int]
    /// For each thread, the start of the wait that ended when its last slice did.
    private var waitStarts: [MonotonicTime?]

    init(_ schedule: RecordedSchedule, account: SchedulerAccount?) {
        self.schedule = schedule
        isExact = account == .wakeups
        next = schedule.threads.map { _ in 0 }
        waitStarts = schedule.threads.map { _ in nil }
    }

    /// - Parameter slice: slices of a thread must come in order.
    mutating func refined(_ slice: Slice) -> Slice {
        let thread = slice.thread.rawValue
        guard isExact, next.indices.contains(thread) else { return slice }
        // A thread that waited and then ran between two samples has two slices: the wait is the
        // first.
        let waitStart = waitStarts[thread]
        let start = waitStart ?? slice.start
        let isWait = slice.times.wall == slice.times.blocked
        waitStarts[thread] = isWait ? slice.start : nil
        var result = slice
        let waited = slice.times.runnable + slice.times.preempted
        if waited > .zero, let told = states(of: thread, from: start, to: slice.end) {
            result.times.runnable = min(waited, told.runnable)
            result.times.preempted = waited - result.times.runnable
        }
        // The exact border of two slices is not known.
        if slice.times.blocked > .zero, !isWait, waitStart == nil,
            let told = states(of: thread, from: start, to: slice.end)
        {
            result.times.move(blockedBeyond: told)
        }
        return result
    }

    /// nil where the account does not cover all that time.
    private mutating func states(
        of thread: Int, from start: MonotonicTime, to end: MonotonicTime
    ) -> StateTimes? {
        let runs = schedule.threads[thread]
        while next[thread] < runs.count, runs[next[thread]].end <= start { next[thread] += 1 }
        var result = StateTimes.zero
        for run in runs[next[thread]...] {
            guard run.start < end else { break }
            let common = min(run.end, end) - max(run.start, start)
            switch run.state {
            case .running: result.running = result.running + common
            case .runnable: result.runnable = result.runnable + common
            case .preempted: result.preempted = result.preempted + common
            case .blocked: result.blocked = result.blocked + common
            case nil: break
            }
        }
        return result.wall == end - start ? result : nil
    }
}

extension StateTimes {
    /// Moves time that counts as blocked, but was a wait for a core by the scheduler's account.
    fileprivate mutating func move(blockedBeyond told: StateTimes) {
        let excess = max(.zero, blocked - told.blocked)
        let pushedOff = min(excess, max(.zero, told.preempted - preempted))
        let woken = min(excess - pushedOff, max(.zero, told.runnable - runnable))
        blocked = blocked - pushedOff - woken
        preempted = preempted + pushedOff
        runnable = runnable + woken
    }
}
