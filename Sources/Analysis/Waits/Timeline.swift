package import ProfileModel

/// A stretch of one thread's life in one state.
package struct StateRun: Hashable, Sendable {
    /// Since the launch's start.
    package var start: TimeSpan
    package var length: TimeSpan
    package var state: ThreadState

    package var end: TimeSpan { start + length }
}

/// The source for the timelines of threads, which are made when they are needed.
struct TimelineSource: Sendable {
    private let schedule: RecordedSchedule
    /// Slices of threads for which the scheduler reported nothing within the launch.
    private let slices: [Slice]
    private let plan: PhasePlan

    init(_ recording: Recording, _ schedule: RecordedSchedule, _ plan: PhasePlan) {
        self.schedule = schedule
        let isUntold = schedule.threads.map { thread in
            !thread.contains { run in
                run.state != nil && !plan.window(from: run.start, to: run.end).isEmpty
            }
        }
        slices = recording.slices.filter { slice in
            let thread = slice.thread.rawValue
            return isUntold.indices.contains(thread) && isUntold[thread]
        }
        self.plan = plan
    }

    /// For each thread, its states during the launch, in order.
    func timelines() -> [[StateRun]] {
        var builders = schedule.threads.map { thread in
            var builder = RunBuilder(plan)
            for run in thread {
                if let state = run.state { builder.add(state, from: run.start, to: run.end) }
            }
            return builder
        }
        // The scheduler's account of a thread is exact; otherwise each slice has the duration of
        // each state, and its end shows which state came last.
        for slice in slices { builders[slice.thread.rawValue].add(slice.clamped) }
        return builders.map(\.runs)
    }
}

private struct RunBuilder {
    private(set) var runs: [StateRun] = []
    private let plan: PhasePlan

    init(_ plan: PhasePlan) { self.plan = plan }

    mutating func add(_ slice: Slice) {
        let times = slice.times
        let waiting = [(ThreadState.runnable, times.runnable), (.preempted, times.preempted)]
        let order =
            slice.systemCall == nil
            ? [(.blocked, times.blocked)] + waiting + [(.running, times.running)]
            : waiting + [(.running, times.running), (.blocked, times.blocked)]
        var cursor = slice.start
        for (state, length) in order {
            add(state, from: cursor, to: cursor + length)
            cursor = cursor + length
        }
    }

    /// Adds the part within the launch; it is joined with the run that it continues.
    mutating func add(
        _ state: ThreadState, from start: MonotonicTime, to end: MonotonicTime
    ) {
        let window = plan.window(from: start, to: end)
        guard !window.isEmpty else { return }
        let length = window.upperBound - window.lowerBound
        if let last = runs.last, last.state == state, last.end == window.lowerBound {
            runs[runs.count - 1].length = last.length + length
        } else {
            runs.append(StateRun(start: window.lowerBound, length: length, state: state))
        }
    }
}

extension Profile {
    /// For each thread, its states during the launch, in order: exact where the scheduler reported
    /// them, otherwise to the tick.
    package func timelines() -> [[StateRun]] { timelineSource.timelines() }
}
