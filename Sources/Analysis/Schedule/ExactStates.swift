import ProfileModel

/// Divides a thread's waiting for a core by the scheduler's own account: what followed a wake-up,
/// and what followed being pushed off. The kernel's counters have only the sum of both, exactly.
/// Whatever else a slice says stays as it is.
struct ExactStates {
    private let schedule: RecordedSchedule
    private let isExact: Bool
    /// Of each thread, the first run that may still be asked for.
    private var next: [Int]
    /// When the wait began that ended when a thread's last slice did.
    private var waitStarts: [MonotonicTime?]

    init(_ schedule: RecordedSchedule, account: SchedulerAccount?) {
        self.schedule = schedule
        isExact = account == .wakeups
        next = schedule.threads.map { _ in 0 }
        waitStarts = schedule.threads.map { _ in nil }
    }

    /// - Parameter slice: a thread's come in order.
    mutating func refined(_ slice: Slice) -> Slice {
        let thread = slice.thread.rawValue
        guard isExact, next.indices.contains(thread) else { return slice }
        // A thread that waited and then ran between two looks has two slices: the wait is the first.
        let start = waitStarts[thread] ?? slice.start
        let isWait = slice.times.wall == slice.times.blocked
        waitStarts[thread] = isWait ? slice.start : nil
        let waited = slice.times.runnable + slice.times.preempted
        guard waited > .zero, let runnable = runnable(of: thread, from: start, to: slice.end)
        else { return slice }
        var result = slice
        result.times.runnable = min(waited, runnable)
        result.times.preempted = waited - result.times.runnable
        return result
    }

    /// nil where the account does not tell of all that time.
    private mutating func runnable(
        of thread: Int, from start: MonotonicTime, to end: MonotonicTime
    ) -> TimeSpan? {
        let runs = schedule.threads[thread]
        while next[thread] < runs.count, runs[next[thread]].end <= start { next[thread] += 1 }
        var (known, result) = (TimeSpan.zero, TimeSpan.zero)
        for run in runs[next[thread]...] {
            guard run.start < end else { break }
            guard run.state != nil else { continue }
            let common = min(run.end, end) - max(run.start, start)
            known = known + common
            if run.state == .runnable { result = result + common }
        }
        return known == end - start ? result : nil
    }
}
