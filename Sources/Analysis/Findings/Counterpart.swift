package import ProfileModel

/// The thread that another one waited for, and its work during the wait.
package struct Counterpart: Hashable, Sendable {
    package enum Basis: String, Sendable {
        /// It held the lock, or the other thread waited for its end.
        case owner
        /// It ended the wait, according to the scheduler.
        case waker
        /// No event names it, but no other thread worked during the wait.
        case presumed
    }

    /// In the profile's list.
    package var thread: Int
    package var basis: Basis
    /// Its times during the wait.
    package var times: StateTimes
    /// The stack that it had most of that time, outermost first; empty: no sample shows it.
    package var stack: [FrameID]
    /// The developer's own function in that stack that does the work; nil: there is none.
    package var place: FrameID?
    /// The child that it waited for itself, for most of that time; nil: none.
    package var child: String?
    /// Its priority then, and that of the waiting thread. nil: one of them is not known, or its own
    /// is not the lower one.
    package var lowerPriority: PriorityPair?

    package struct PriorityPair: Hashable, Sendable {
        package var own: PriorityFigures
        package var waiting: PriorityFigures
    }

    /// The time in which it was ready but had no core.
    package var lacked: TimeSpan { times.runnable + times.preempted }

    /// Whether its low priority made the wait for it longer.
    func isInversion(of wait: TimeSpan) -> Bool {
        lowerPriority != nil && PriorityInversion.isLonger(wait, by: lacked)
    }
}

extension Counterpart {
    /// nil: the wait was for no particular thread, or that thread is not known.
    init?(_ group: WaitGroups.Group, in search: FindingSearch) {
        self.init(group, in: search, Self.known(group, search) ?? Self.presumed(group, search))
    }

    /// The same, but nil if the thread is only presumed.
    init?(knownOf group: WaitGroups.Group, in search: FindingSearch) {
        self.init(group, in: search, Self.known(group, search))
    }

    private init?(
        _ group: WaitGroups.Group, in search: FindingSearch, _ found: (Int, Basis)?
    ) {
        let wait = group.longest
        guard let found else { return nil }
        (thread, basis) = found
        times = search.profile.times(
            in: Selection(threads: [thread], windows: group.windows))
        let heaviest = search.heaviestStack(of: thread, in: group.windows, by: .wall).entries
        stack = heaviest.map(\.frame)
        place = search.worker(in: heaviest, by: .wall) { $0.isOwn }
        child = search.child(awaitedBy: thread, in: group.windows)
        lowerPriority = PriorityPair(
            own: search.profile.threads[thread].priority(at: wait.end),
            waiting: search.profile.threads[wait.thread].priority(at: wait.end))
    }

    private static func canBeOf(_ group: WaitGroups.Group) -> Bool {
        [.lockWait, .threadWait].contains(group.kind)
    }

    private static func known(
        _ group: WaitGroups.Group, _ search: FindingSearch
    ) -> (Int, Basis)? {
        let wait = group.longest
        guard canBeOf(group) else { return nil }
        if let owner = wait.reason.owner, let thread = search.thread(owner, at: wait) {
            return (thread, .owner)
        }
        return wait.endedBy.flatMap { search.thread($0.tid, at: wait) }.map { ($0, .waker) }
    }

    private static func presumed(
        _ group: WaitGroups.Group, _ search: FindingSearch
    ) -> (Int, Basis)? {
        let wait = group.longest
        guard canBeOf(group), wait.reason.owner == nil, wait.endedBy == nil else { return nil }
        return search.onlyWorker(besides: wait.thread, in: group.windows)
            .map { ($0, .presumed) }
    }
}

extension FindingSearch {
    /// The kernel reuses thread ids: the last thread that had the id by then.
    func thread(_ tid: Int32, at wait: WaitFigures) -> Int? {
        profile.threads.indices.last {
            $0 != wait.thread && profile.threads[$0].tid == tid
                && profile.threads[$0].start <= wait.end
        }
    }

    /// The child that a thread waited for longest, if its waits for children fill at least half of
    /// the time.
    fileprivate func child(awaitedBy thread: Int, in windows: TimeWindows) -> String? {
        var longest: (detail: String?, length: TimeSpan) = (nil, .zero)
        var sum = TimeSpan.zero
        for wait in waits(of: thread) where wait.reason.kind == .child {
            let length = windows.clamped(to: window(from: wait.start, to: wait.end)).length
            sum = sum + length
            if length > longest.length { longest = (wait.reason.detail, length) }
        }
        return sum.nanoseconds >= windows.length.nanoseconds / 2 ? longest.detail : nil
    }

    /// The only other thread that had work for at least half of the time; nil: there was none, or
    /// several.
    fileprivate func onlyWorker(besides thread: Int, in windows: TimeWindows) -> Int? {
        let times = profile.timesByThread(in: Selection(windows: windows))
        let workers = times.indices.filter {
            $0 != thread
                && (times[$0].wall - times[$0].blocked).nanoseconds
                    >= windows.length.nanoseconds / 2
        }
        return workers.count == 1 ? workers[0] : nil
    }
}

extension Counterpart.PriorityPair {
    /// nil: one is not known, or `own` is not the lower one.
    init?(own: PriorityFigures?, waiting: PriorityFigures?) {
        guard let own, let waiting, own.isLower(than: waiting) else { return nil }
        self.init(own: own, waiting: waiting)
    }
}
