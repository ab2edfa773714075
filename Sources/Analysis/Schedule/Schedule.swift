import ProfileModel

/// The scheduler's own account, thread by thread: each one's runs in order and without overlap, and
/// its wake-ups in order, whatever the recording holds.
struct Schedule: Sendable {
    struct Thread: Sendable {
        fileprivate(set) var runs: [ScheduledRun] = []
        fileprivate(set) var wakeups: [Wakeup] = []
    }

    private(set) var threads: [Thread]

    init(_ recording: Recording) {
        threads = recording.threads.map { _ in Thread() }
        for run in recording.runs where threads.indices.contains(run.thread.rawValue) {
            var run = run
            (run.start, run.end) = (run.start.clamped, run.end.clamped)
            threads[run.thread.rawValue].runs.append(run)
        }
        for wakeup in recording.wakeups where threads.indices.contains(wakeup.thread.rawValue) {
            var wakeup = wakeup
            wakeup.time = wakeup.time.clamped
            threads[wakeup.thread.rawValue].wakeups.append(wakeup)
        }
        for index in threads.indices { threads[index].putInOrder() }
    }
}

extension Schedule.Thread {
    fileprivate mutating func putInOrder() {
        runs.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        wakeups.sort { $0.time < $1.time }
        // There are many: what overlaps is mended in place.
        var latest = MonotonicTime(nanoseconds: .min)
        for index in runs.indices {
            runs[index].start = max(runs[index].start, latest)
            latest = max(latest, runs[index].end)
        }
        runs.removeAll { $0.start >= $0.end }
    }

    /// Who ended its wait, or made it, at a moment; nil: nobody that is known.
    func wakeup(at time: MonotonicTime) -> Wakeup? {
        let index = wakeups.partitionIndex { $0.time >= time }
        return index < wakeups.count && wakeups[index].time == time ? wakeups[index] : nil
    }
}
