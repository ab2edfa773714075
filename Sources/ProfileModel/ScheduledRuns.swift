/// The scheduler's reports about a recording's threads. Each thread's runs are in order and without
/// overlap, even if added runs are not.
package struct ScheduledRuns: Hashable, Sendable {
    private var lists: [ThreadIndex: ThreadRuns] = [:]

    package init() {}

    package init(_ runs: some Sequence<ScheduledRun>) {
        for run in runs { append(run) }
    }

    package var isEmpty: Bool { lists.isEmpty }

    package subscript(thread: ThreadIndex) -> ThreadRuns { lists[thread] ?? ThreadRuns() }

    /// Adds a run after the other runs of its thread. If it begins before they end, only the rest
    /// is added; an empty run is ignored.
    package mutating func append(_ run: ScheduledRun) {
        guard run.start < run.end else { return }
        lists[run.thread, default: ThreadRuns()].append(run)
    }

    /// The same for runs that all belong to one thread.
    package mutating func append(_ runs: [ScheduledRun], of thread: ThreadIndex) {
        guard runs.contains(where: { $0.start < $0.end }) else { return }
        lists[thread, default: ThreadRuns()].append(contentsOf: runs)
    }

    /// The same runs on another clock.
    ///
    /// - Parameter move: must keep the order of moments.
    package mutating func moveTimes(_ move: (MonotonicTime) -> MonotonicTime) {
        for thread in lists.keys { lists[thread]?.moveTimes(move) }
        lists = lists.filter { !$0.value.isEmpty }
    }

    /// The runs of some threads, with new indices.
    ///
    /// - Parameter place: gives a thread's new index; nil: the thread is left out.
    package func of(_ place: (ThreadIndex) -> ThreadIndex?) -> ScheduledRuns {
        var result = ScheduledRuns()
        for (thread, list) in lists {
            if let other = place(thread) { result.lists[other] = list }
        }
        return result
    }
}

/// Thread by thread.
extension ScheduledRuns: Sequence {
    package func makeIterator() -> some IteratorProtocol<ScheduledRun> {
        lists.sorted { $0.key < $1.key }.lazy.flatMap { thread, list in
            list.lazy.compactMap { stretch in
                stretch.state.map { state in
                    ScheduledRun(
                        thread: thread, start: stretch.start, end: stretch.end, state: state,
                        core: stretch.core)
                }
            }
        }.makeIterator()
    }
}
