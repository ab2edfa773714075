/// The states of one thread according to the scheduler: from the first known moment to the last
/// one, without gaps. A span without reports is a stretch, too.
package struct ThreadRuns: Hashable, Sendable {
    package struct Stretch: Hashable, Sendable {
        package var start: MonotonicTime
        package var end: MonotonicTime
        /// nil: unknown.
        package var state: ThreadState?
        /// The core on which it ran; nil if it did not run, or if this is unknown.
        package var core: Int32?
    }

    /// Each stretch ends where the next one begins. There may be a million of them, so they are as
    /// small as possible.
    struct Change: Hashable, Sendable {
        var time: MonotonicTime
        var core: Int32?
        var state: ThreadState?
    }

    private var changes: [Change] = []
    private var end = MonotonicTime(nanoseconds: .min)

    package init() {}

    mutating func append(_ run: ScheduledRun) {
        append(run.state, core: run.core, from: run.start, to: run.end)
    }

    mutating func append(contentsOf runs: [ScheduledRun]) {
        for run in runs { append(run) }
    }

    private mutating func append(
        _ state: ThreadState, core: Int32?, from start: MonotonicTime, to end: MonotonicTime
    ) {
        let start = Swift.max(start, self.end)
        guard start < end else { return }
        if !changes.isEmpty, self.end < start { changes.append(Change(time: self.end)) }
        changes.append(Change(time: start, core: core, state: state))
        self.end = end
    }

    /// The same on another clock, which must keep the order of moments.
    package mutating func moveTimes(_ move: (MonotonicTime) -> MonotonicTime) {
        var moved = ThreadRuns()
        moved.changes.reserveCapacity(changes.count)
        for stretch in self {
            guard let state = stretch.state else { continue }
            moved.append(
                state, core: stretch.core, from: move(stretch.start), to: move(stretch.end))
        }
        self = moved
    }
}

extension ThreadRuns: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { changes.count }

    package subscript(position: Int) -> Stretch {
        let change = changes[position]
        let next = position + 1
        return Stretch(
            start: change.time, end: next < changes.count ? changes[next].time : end,
            state: change.state, core: change.core)
    }
}
