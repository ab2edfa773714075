import ProfileModel

/// Finds a thread that is the program's main thread in all but name. The recording must show that
/// the first thread creates it in the first half of *Main*, waits for it in a single wait to the
/// end, and does nothing else during the wait. Names play no part.
struct MainThreadSearch {
    /// In the profile's list; the first one has `isMain`.
    let threads: [ThreadFigures]
    let waits: [WaitFigures]
    let parts: PartList
    /// From `main` until the program was ready, or the launch was over.
    let main: Range<TimeSpan>
    /// The largest delay with which the recorder finds a thread: two ticks, at least 2 ms.
    let tolerance: TimeSpan

    /// The share of *Main* that may be over when the first thread begins to wait.
    private static let latestStart = 0.5
    /// The share of it that may be left when the wait is over: the program's exit, which takes
    /// Java's launcher a tenth of a short launch.
    private static let longestRest = 0.1
    /// The same where it is known which thread's end the first thread waited for.
    private static let longestRestAfterEnd = 0.2
    /// The share of CPU time that the first thread may use while it waits.
    private static let mostCPU = 0.01

    /// The thread, and the time for which the first one waits for it; nil: there is none.
    func successor(of first: Int) -> MainThread.Segment? {
        guard !main.isEmpty, let wait = longestWait(of: first), lasts(wait),
            let thread = thread(madeBefore: wait, by: first)
        else { return nil }
        let start = max(wait.start, threads[thread].start)
        let range = start..<max(start, wait.end)
        guard times(of: first, in: range.clamped(to: main)).running < share(Self.mostCPU),
            !isInversion(wait, for: thread, in: range)
        else { return nil }
        return MainThread.Segment(thread: thread, range: range)
    }

    /// The first thread's longest wait for a thread's end, a condition or a semaphore. A thread
    /// that waits for events or for input does work of its own.
    private func longestWait(of first: Int) -> WaitFigures? {
        waits.filter { $0.thread == first && $0.reason.kind == .condition }
            .max { $0.duration < $1.duration }
    }

    private func lasts(_ wait: WaitFigures) -> Bool {
        wait.start >= main.lowerBound && wait.start - main.lowerBound <= share(Self.latestStart)
            && main.upperBound - wait.end
                <= share(wait.reason.owner == nil ? Self.longestRest : Self.longestRestAfterEnd)
    }

    /// The only thread that began right before the wait; nil: there was none, or several, which
    /// divide the work. A thread for which another wait is known is excluded.
    private func thread(madeBefore wait: WaitFigures, by first: Int) -> Int? {
        let earliest = max(main.lowerBound, idleStart(of: first, before: wait.start))
        let near = threads.indices.filter { index in
            index != first && threads[index].child == nil && threads[index].start >= earliest
                && threads[index].start <= wait.start + tolerance
        }
        // Of threads found at the same tick, it is not known which ones existed before the wait.
        let made = near.filter { threads[$0].start <= wait.start }
        guard
            let found = near.count == 1 ? near.first : lateOwner(of: wait, since: earliest, first),
            made.allSatisfy({ $0 == found }),
            wait.reason.owner.map({ $0 == threads[found].tid }) ?? true,
            min(wait.end, main.upperBound) - threads[found].end
                <= max(tolerance, share(Self.longestRest))
        else { return nil }
        return found
    }

    /// The thread whose end the first one waits for, although threads were found too late to tell
    /// which of them existed before the wait. Of the threads that were found together with it, it
    /// must be the only one that works: several such threads divide the work.
    private func lateOwner(
        of wait: WaitFigures, since earliest: TimeSpan, _ first: Int
    ) -> Int? {
        guard let owner = wait.reason.owner else { return nil }
        let others = threads.indices.filter {
            $0 != first && threads[$0].child == nil && threads[$0].start >= earliest
                && threads[$0].start < wait.end
        }
        guard let found = others.last(where: { threads[$0].tid == owner }) else { return nil }
        let range = wait.start..<max(wait.start, wait.end)
        let own = times(of: found, in: range).running
        let isShared = others.contains {
            $0 != found && threads[$0].start <= threads[found].start + tolerance
                && times(of: $0, in: range).running.nanoseconds * Self.clearly
                    >= own.nanoseconds
        }
        return isShared ? nil : found
    }

    /// A thread that leads must work this many times as much as each of the others.
    private static let clearly: Int64 = 2

    /// The report must show such a wait, so the first thread stays the one that waits.
    private func isInversion(_ wait: WaitFigures, for thread: Int, in range: Range<TimeSpan>)
        -> Bool
    {
        guard let own = threads[thread].priority(at: wait.end),
            let waiting = threads[wait.thread].priority(at: wait.end), own.isLower(than: waiting)
        else { return false }
        let times = times(of: thread, in: range)
        return PriorityInversion.isLonger(wait.duration, by: times.runnable + times.preempted)
    }

    /// The time since which the first thread has hardly done anything but wait for a core. Another
    /// thread may take the core before the wait begins, above all the new one.
    private func idleStart(of first: Int, before time: TimeSpan) -> TimeSpan {
        var left = tolerance
        var start = time
        for part in parts.reversed() where Int(part.thread) == first && part.start < time {
            let times = part.times.prefix(wall: time - part.start)
            let own = times.running + times.blocked
            guard own <= left else { return min(part.end, time) - left }
            left = left - own
            start = part.start
        }
        return start
    }

    private func times(of thread: Int, in range: Range<TimeSpan>) -> StateTimes {
        let knife = PartCutter([range.lowerBound, range.upperBound])
        var sum = StateTimes.zero
        for part in parts where Int(part.thread) == thread {
            knife.cut(part) { piece, _ in
                if range.contains(piece.start) { sum = sum + piece.times }
            }
        }
        return sum
    }

    private func share(_ share: Double) -> TimeSpan {
        let wall = main.upperBound - main.lowerBound
        return TimeSpan(nanoseconds: Int64(Double(wall.nanoseconds) * share))
    }
}

extension MainThread {
    /// - Parameters:
    ///   - phases: the launch's phases.
    ///   - ready: when the program was ready; nil: not known.
    ///   - wall: the launch's length.
    init(
        _ recording: Recording, threads: [ThreadFigures], waits: [WaitFigures],
        parts: PartList, phases: [Phase], ready: TimeSpan?, wall: TimeSpan
    ) {
        let first = threads.firstIndex(where: \.isMain)
        let start = phases.first { $0.group == .afterMain }?.start
        guard !recording.header.isAttached, let first, let start else {
            self.init(first: first, wall: wall)
            return
        }
        let end = max(start, min(ready ?? wall, wall))
        let search = MainThreadSearch(
            threads: threads, waits: waits, parts: parts, main: start..<end,
            tolerance: recording.header.tolerance)
        self.init(first: first, successor: search.successor(of: first), wall: wall)
    }
}

extension Recording.Header {
    /// The largest difference between two reported times of one moment: two ticks, at least 2 ms.
    var tolerance: TimeSpan {
        let tick = 1_000_000_000 / Int64(max(1, frequency))
        return TimeSpan(nanoseconds: max(2_000_000, 2 * tick))
    }
}
