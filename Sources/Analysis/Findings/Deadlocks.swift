import ProfileModel

/// Threads that each waited until their end for a lock that the next one held. The first thread
/// held the lock that the last one waited for.
package struct DeadlockEvidence: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        /// In the profile's list.
        package var thread: Int
        /// The lock that it waited for: its kind and name or address; nil: not known.
        package var lock: String?
        /// The stack in which it waited for the lock, outermost first.
        package var stack: [FrameID]
    }

    package var members: [Member]
}

/// Finds cycles of threads that wait for each other's locks. A thread counts as a holder only if
/// the recording shows that it held the lock.
struct Deadlocks: FindingRule {
    func findings(in search: inout FindingSearch) -> [Finding] {
        let waits = lastWaits(in: search)
        var found: [Finding] = []
        var seen: Set<Int> = []
        for first in waits.keys.sorted() where !seen.contains(first) {
            let circle = circle(from: first, waits, search)
            seen.formUnion(circle)
            guard let finding = finding(circle, waits, search) else { continue }
            search.claim(TimeWindows([finding.range]))
            found.append(finding)
        }
        return found
    }

    /// For each thread, the wait for a lock that lasted until the thread's end.
    private func lastWaits(in search: FindingSearch) -> [Int: WaitFigures] {
        var result: [Int: WaitFigures] = [:]
        for wait in search.profile.waits where wait.reason.kind == .lock {
            guard wait.reason.owner != nil, wait.endedBy == nil,
                search.profile.threads.indices ~= wait.thread,
                wait.end + Self.latest >= search.profile.threads[wait.thread].end
            else { continue }
            result[wait.thread] = wait
        }
        return result
    }

    /// The recorder may notice a thread's end some ticks after the end of its last wait.
    private static let latest = TimeSpan.milliseconds(5)

    /// The threads of the cycle that a thread's waits lead into; empty: there is none.
    private func circle(
        from first: Int, _ waits: [Int: WaitFigures], _ search: FindingSearch
    ) -> [Int] {
        var path: [Int] = []
        var thread = first
        while let wait = waits[thread], let owner = wait.reason.owner {
            if let start = path.firstIndex(of: thread) { return Array(path[start...]) }
            path.append(thread)
            guard let next = search.thread(owner, at: wait) else { return [] }
            thread = next
        }
        return []
    }

    private func finding(
        _ circle: [Int], _ waits: [Int: WaitFigures], _ search: FindingSearch
    ) -> Finding? {
        // The main thread comes first.
        let main = circle.firstIndex { search.profile.mainThread.threads.contains($0) } ?? 0
        let circle = Array(circle[main...] + circle[..<main])
        let own = circle.compactMap { waits[$0] }
        guard circle.count > 1, own.count == circle.count,
            let start = own.map(\.start).max(), let end = own.map(\.end).max()
        else { return nil }
        let window = search.window(from: start, to: end)
        let stack = search.profile.stack(of: own[0])
        guard window.upperBound - window.lowerBound >= search.least,
            let place = search.place(in: stack)
        else { return nil }
        let members = zip(circle, own).map {
            DeadlockEvidence.Member(
                thread: $0, lock: $1.reason.detail, stack: search.profile.stack(of: $1))
        }
        return Finding(
            subject: .deadlock(DeadlockEvidence(members: members)),
            saving: window.upperBound - window.lowerBound, thread: circle[0], range: window,
            place: place, stack: stack)
    }
}
