package import ProfileModel

/// Threads that waited for one lock, one after the other.
package struct ContentionEvidence: Hashable, Sendable {
    /// The lock's kind and name or address.
    package var lock: String
    /// The number of threads that waited for it.
    package var threads: Int
    package var count: Int
    /// The sum over all threads; it may exceed the launch.
    package var waited: TimeSpan
}

/// Several threads, but not the main thread, wait for the same lock for much of the time. In a
/// launch the main thread may not need them, so the threshold is higher there.
struct LockContention: FindingRule {
    private static let (leastShareAttached, leastShare) = (0.2, 0.5)
    private static let leastThreads = 2

    private struct Group {
        var waits: [WaitFigures] = []
        var windows: [Range<TimeSpan>] = []
    }

    func findings(in search: inout FindingSearch) -> [Finding] {
        let share = search.profile.header.isAttached ? Self.leastShareAttached : Self.leastShare
        let least = max(
            search.least, TimeSpan(nanoseconds: Int64(Double(search.end.nanoseconds) * share)))
        return groups(in: search).compactMap { lock, group in
            finding(lock, group, atLeast: least, search)
        }
    }

    /// For each lock, in the order of their first waits.
    private func groups(in search: FindingSearch) -> [(lock: String, group: Group)] {
        var groups: [String: Group] = [:]
        var order: [String] = []
        for wait in search.profile.waits where wait.reason.kind == .lock {
            let window = search.window(from: wait.start, to: wait.end)
            guard let lock = wait.reason.detail, !window.isEmpty,
                search.profile.threads.indices ~= wait.thread,
                search.profile.threads[wait.thread].child == nil,
                !search.isMain(wait.thread, at: wait.start)
            else { continue }
            if groups[lock] == nil { order.append(lock) }
            groups[lock, default: Group()].waits.append(wait)
            groups[lock]?.windows.append(window)
        }
        return order.compactMap { lock in groups[lock].map { (lock, $0) } }
    }

    private func finding(
        _ lock: String, _ group: Group, atLeast least: TimeSpan, _ search: FindingSearch
    ) -> Finding? {
        let windows = TimeWindows(group.windows)
        let threads = Set(group.waits.map(\.thread))
        guard threads.count >= Self.leastThreads, windows.length >= least, let range = windows.span,
            let longest = group.waits.max(by: { $0.duration < $1.duration })
        else { return nil }
        let stack = search.profile.stack(of: longest)
        guard let place = search.place(in: stack) else { return nil }
        let waited = group.windows.reduce(TimeSpan.zero) { $0 + $1.upperBound - $1.lowerBound }
        return Finding(
            subject: .contendedLock(
                ContentionEvidence(
                    lock: lock, threads: threads.count, count: group.waits.count, waited: waited)),
            saving: windows.length, thread: longest.thread, range: range, place: place, stack: stack
        )
    }
}
