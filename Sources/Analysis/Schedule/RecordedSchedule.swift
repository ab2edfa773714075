import ProfileModel

/// The scheduler's own account in a recording: each thread's runs and wake-ups, in order.
struct RecordedSchedule: Sendable {
    let threads: [ThreadRuns]
    /// In the recording's order.
    private let wakeups: [Wakeup]
    /// The positions of each thread's wake-ups, in the order of time.
    private let positions: [[Int32]]

    init(_ recording: Recording) {
        threads = recording.threads.indices.map { recording.runs[ThreadIndex($0)].clamped }
        let wakeups = recording.wakeups.prefix(Int(Int32.max))
        var positions = recording.threads.map { _ in [Int32]() }
        for (position, wakeup) in wakeups.enumerated()
        where positions.indices.contains(wakeup.thread.rawValue) {
            positions[wakeup.thread.rawValue].append(Int32(position))
        }
        self.wakeups = recording.wakeups
        for thread in positions.indices {
            positions[thread].putInOrder {
                wakeups[Int($0)].time.clamped < wakeups[Int($1)].time.clamped
            }
        }
        self.positions = positions
    }

    /// The event that ended a thread's wait, or created it, at a moment; nil: none is known.
    func wakeup(of thread: Int, at time: MonotonicTime) -> Wakeup? {
        let list = positions[thread]
        let index = list.partitionIndex { wakeups[Int($0)].time.clamped >= time }
        guard index < list.count else { return nil }
        let wakeup = wakeups[Int(list[index])]
        return wakeup.time.clamped == time ? wakeup : nil
    }

    /// The wake-up of a thread nearest to a moment, if it is at most `most` away.
    func wakeup(of thread: Int, nearestTo time: MonotonicTime, most: TimeSpan) -> Wakeup? {
        guard positions.indices.contains(thread) else { return nil }
        let list = positions[thread]
        let index = list.partitionIndex { wakeups[Int($0)].time.clamped >= time }
        func distance(_ position: Int32) -> TimeSpan {
            TimeSpan(nanoseconds: abs((wakeups[Int(position)].time.clamped - time).nanoseconds))
        }
        let near = list[max(0, index - 1)..<min(list.count, index + 1)]
        let nearest = near.min { distance($0) < distance($1) }
        return nearest.flatMap { distance($0) <= most ? wakeups[Int($0)] : nil }
    }

    /// The wake-up at the end of the one stretch in which a thread was blocked for more than half
    /// of a wait; nil: the wait has no such stretch, or no wake-up was reported. The recorder sees
    /// a wait's end late, when the thread's next wait may have begun and ended.
    func wakeup(endingMostOf wait: Range<MonotonicTime>, of thread: Int) -> Wakeup? {
        guard threads.indices.contains(thread), positions.indices.contains(thread) else {
            return nil
        }
        let runs = threads[thread]
        let half = (wait.upperBound - wait.lowerBound).nanoseconds / 2
        for run in runs[runs.partitionIndex { $0.end > wait.lowerBound }...] {
            guard run.start < wait.upperBound else { return nil }
            let common = min(run.end, wait.upperBound) - max(run.start, wait.lowerBound)
            guard run.state == .blocked, common.nanoseconds > half else { continue }
            return wakeup(of: thread, at: run.end)
        }
        return nil
    }
}

extension ThreadRuns {
    /// Within the bounds of ``MonotonicTime/clamped``.
    fileprivate var clamped: ThreadRuns {
        guard let first, let last,
            first.start.clamped != first.start || last.end.clamped != last.end
        else { return self }
        var result = self
        result.moveTimes(\.clamped)
        return result
    }
}
