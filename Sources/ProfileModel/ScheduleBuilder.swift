/// Makes runs and wake-ups of what the scheduler told, thread by thread. What is not known stays
/// so: a stretch whose beginning or end was lost is no run.
package struct ScheduleBuilder: Sendable {
    package struct Result: Hashable, Sendable {
        package fileprivate(set) var runs: [ScheduledRun] = []
        package fileprivate(set) var wakeups: [Wakeup] = []
    }

    /// What a thread is known to do since a moment.
    private enum Activity: Hashable {
        /// All that it did since then would have been told; whether it had a core is not known.
        case watched
        case running(core: Int32)
        case pushed
        /// Since `woken` it wants a core again.
        case waiting(woken: MonotonicTime?)
        /// New, and without a core so far.
        case new
    }

    private struct Track {
        var activity: Activity
        var since: MonotonicTime
        /// Who woke it before it had quite left its core.
        var earlyWaker: SchedulerRecord.Waker?
    }

    private var tracks: [Int32: Track] = [:]
    /// Whose an id is, and whose it will be when that thread has ended.
    ///
    /// A thread that nobody has seen, because it lived for less than a tick, has none: what it did
    /// is left out.
    private var indices: [Int32: [ThreadIndex]] = [:]
    /// Threads whose end is known, and of which what was before it may still be told.
    private var ending: [Int32: (index: ThreadIndex, end: MonotonicTime)] = [:]
    /// Up to when each thread's runs are told.
    private var ends: [ThreadIndex: MonotonicTime] = [:]
    private var kept = 0
    /// What is known by now, less what was removed.
    package private(set) var result = Result()
    private let limit: Int
    /// Runs and wake-ups beyond the limit.
    package private(set) var unkept: Int64 = 0
    /// How often something was lost.
    package private(set) var losses: Int64 = 0

    /// Some 20 MB of a recording.
    package static let usualLimit = 3_000_000
    private static let latest: Int64 = 1 << 60

    package init(limit: Int = usualLimit) { self.limit = limit }

    /// Goes on in another recording, or in another part of one.
    ///
    /// - Parameter numbers: what threads are called there. Of others nothing more is told.
    package mutating func renumber(_ numbers: [ThreadIndex: ThreadIndex]) {
        let former = indices
        indices = former.compactMapValues { known in
            let left = known.compactMap { numbers[$0] }
            return left.isEmpty ? nil : left
        }
        for tid in former.keys where indices[tid] == nil { tracks[tid] = nil }
        ending = ending.compactMapValues { entry in
            numbers[entry.index].map { ($0, entry.end) }
        }
        ends = Dictionary(
            ends.compactMap { thread, end in numbers[thread].map { ($0, end) } },
            uniquingKeysWith: max)
        kept = 0
    }

    // MARK: What happens

    package mutating func list(_ thread: ThreadIndex, tid: Int32) {
        indices[tid, default: []].append(thread)
    }

    /// A thread's records come in order.
    package mutating func add(_ records: [SchedulerRecord]) {
        for record in records { add(record) }
    }

    package mutating func add(_ record: SchedulerRecord) {
        if 0...Self.latest ~= record.time.nanoseconds { take(record) }
    }

    /// Ends what goes on.
    package mutating func finish(at end: MonotonicTime) {
        finishEnded()
        for tid in tracks.keys.sorted() { finish(tid, at: end) }
    }

    /// Some threads end then, or have ended. What is told of them later may have been earlier: the
    /// scheduler tells a tick or two late.
    package mutating func expectEnd(
        of threads: some Sequence<(tid: Int32, index: ThreadIndex)>, at end: MonotonicTime
    ) {
        for (tid, index) in threads where indices[tid]?.contains(index) == true {
            // Whoever had the id before has ended by now.
            if let other = ending[tid], other.index != index { finishEnded(tid) }
            ending[tid] = (index, end)
        }
    }

    /// Ends what goes on of those that were to end: nothing more is told of them.
    ///
    /// - Parameter kept: those of which something may still be told.
    package mutating func finishEnded(but kept: Set<ThreadIndex> = []) {
        for (tid, entry) in ending.sorted(by: { $0.key < $1.key })
        where !kept.contains(entry.index) {
            finishEnded(tid)
        }
    }

    private mutating func finishEnded(_ tid: Int32) {
        guard let (index, end) = ending.removeValue(forKey: tid), indices[tid]?.first == index
        else { return }
        finish(tid, at: end)
    }

    private mutating func finish(_ tid: Int32, at end: MonotonicTime) {
        close(tid, at: end)
        tracks[tid] = nil
    }

    /// Makes room for what comes next, in the same memory.
    package mutating func removeResult() {
        result.runs.removeAll(keepingCapacity: true)
        result.wakeups.removeAll(keepingCapacity: true)
    }

    private mutating func take(_ record: SchedulerRecord) {
        let (tid, time) = (record.tid, record.time)
        if case .lost(let since) = record.kind { return lose(tid, since: since, until: time) }
        if let (_, end) = ending[tid], end < time { finishEnded(tid) }
        // Not in order, whatever the reason: what it says is known already.
        if let track = tracks[tid], time < track.since { return }
        switch record.kind {
        case .watched:
            if tracks[tid] == nil { start(tid, .watched, at: time) }
        case .began(let creator):
            forget(tid)
            start(tid, .new, at: time)
            report(SchedulerRecord.Waker(tid: creator), woke: tid, at: time)
        case .arrived(let core):
            arrive(tid, at: time)
            start(tid, .running(core: core), at: time)
        case .left(let departure, let core):
            leave(tid, core, at: time)
            start(tid, departure == .pushed ? .pushed : .waiting(woken: nil), at: time)
        case .woken(let waker): wake(tid, waker, at: time)
        case .ended:
            close(tid, at: time)
            forget(tid)
        case .lost: break
        }
    }

    private mutating func start(_ tid: Int32, _ activity: Activity, at time: MonotonicTime) {
        let waker = tracks[tid]?.earlyWaker
        tracks[tid] = Track(activity: activity, since: time)
        // Of use only until it has its core back.
        if case .waiting = activity { tracks[tid]?.earlyWaker = waker }
    }

    private mutating func arrive(_ tid: Int32, at time: MonotonicTime) {
        guard let track = tracks[tid] else { return }
        switch track.activity {
        case .waiting(woken: nil):
            // It was woken while it was about to leave its core.
            if let waker = track.earlyWaker {
                report(waker, woke: tid, at: track.since)
                emit(tid, .runnable, from: track.since, to: time)
            } else {
                close(tid, at: time)
            }
        case .running, .watched: break
        default: close(tid, at: time)
        }
    }

    private mutating func leave(_ tid: Int32, _ core: Int32, at time: MonotonicTime) {
        switch tracks[tid]?.activity {
        case .running(let known): emit(tid, .running, from: tracks[tid]?.since, to: time, known)
        // It would have been told if it had come only since.
        case .watched: emit(tid, .running, from: tracks[tid]?.since, to: time, core)
        default: break
        }
    }

    private mutating func wake(_ tid: Int32, _ waker: SchedulerRecord.Waker, at time: MonotonicTime)
    {
        switch tracks[tid]?.activity {
        case .waiting(woken: nil):
            tracks[tid]?.activity = .waiting(woken: time)
            report(waker, woke: tid, at: time)
        case .running: tracks[tid]?.earlyWaker = waker
        default: break
        }
    }

    private mutating func lose(_ tid: Int32, since: MonotonicTime, until time: MonotonicTime) {
        losses += 1
        for other in tid == 0 ? tracks.keys.sorted() : [tid] {
            guard let track = tracks[other] else { continue }
            close(other, at: max(track.since, since))
            tracks[other] = Track(activity: .watched, since: max(time, track.since))
        }
    }

    private mutating func forget(_ tid: Int32) {
        tracks[tid] = nil
        ending[tid] = nil
        // Who has the id next is another thread, but for one that executes another program and
        // takes its process's first over.
        if let known = indices[tid], known.count > 1 { indices[tid]?.removeFirst() }
    }

    // MARK: What is known

    /// Hands on what a thread has done up to now.
    private mutating func close(_ tid: Int32, at end: MonotonicTime) {
        guard let track = tracks[tid] else { return }
        switch track.activity {
        case .running(let core): emit(tid, .running, from: track.since, to: end, core)
        case .pushed: emit(tid, .preempted, from: track.since, to: end)
        case .new: emit(tid, .runnable, from: track.since, to: end)
        case .waiting(let woken):
            emit(tid, .blocked, from: track.since, to: min(woken ?? end, end))
            if let woken { emit(tid, .runnable, from: woken, to: end) }
        case .watched: break
        }
    }

    private mutating func emit(
        _ tid: Int32, _ state: ThreadState, from start: MonotonicTime?, to end: MonotonicTime,
        _ core: Int32? = nil
    ) {
        guard var start, let thread = indices[tid]?.first else { return }
        // Records that came too late may say otherwise.
        start = max(start, ends[thread] ?? start)
        guard start < end, hasRoom() else { return }
        ends[thread] = end
        result.runs.append(
            ScheduledRun(thread: thread, start: start, end: end, state: state, core: core))
    }

    private mutating func report(
        _ waker: SchedulerRecord.Waker, woke tid: Int32, at time: MonotonicTime
    ) {
        guard let thread = indices[tid]?.first, hasRoom() else { return }
        result.wakeups.append(
            Wakeup(
                thread: thread, time: time, waker: waker.tid, wakerName: waker.name,
                wakerThread: waker.isInterrupt ? nil : indices[waker.tid]?.first,
                isInterrupt: waker.isInterrupt))
    }

    private mutating func hasRoom() -> Bool {
        guard kept < limit else {
            unkept += 1
            return false
        }
        kept += 1
        return true
    }
}
