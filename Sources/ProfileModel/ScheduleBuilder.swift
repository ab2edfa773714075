/// Makes runs and wake-ups from the scheduler's reports, thread by thread. It never guesses: a span
/// whose begin or end was lost is no run.
package struct ScheduleBuilder: Sendable {
    package struct Result: Hashable, Sendable {
        package fileprivate(set) var runs: [ScheduledRun] = []
        package fileprivate(set) var wakeups: [Wakeup] = []
    }

    /// The known activity of a thread since a moment.
    private enum Activity: Hashable {
        /// From here on, all events of the thread are reported; whether it had a core is unknown.
        case watched
        case running(core: Int32)
        case pushed
        /// It has wanted a core again since `woken`.
        case waiting(woken: MonotonicTime?)
        /// New, and without a core so far.
        case new
    }

    private struct Track {
        var activity: Activity
        var since: MonotonicTime
        /// The waker that woke the thread before it had completely left its core.
        var earlyWaker: SchedulerRecord.Waker?
    }

    private var tracks: [Int32: Track] = [:]
    /// The thread that has an id, followed by those that will have the id after that thread's end.
    ///
    /// A thread that was never seen, because it lived for less than a tick, has no index: its
    /// events are left out.
    private var indices: [Int32: [ThreadIndex]] = [:]
    /// Threads whose end is known, and for which earlier events may still be reported.
    private var ending: [Int32: (index: ThreadIndex, end: MonotonicTime)] = [:]
    /// The end of each thread's reported runs.
    private var ends: [ThreadIndex: MonotonicTime] = [:]
    private var kept = 0
    /// The results so far, except those that were removed.
    package private(set) var result = Result()
    private let limit: Int
    /// Runs and wake-ups beyond the limit.
    package private(set) var unkept: Int64 = 0
    /// How often events were lost.
    package private(set) var losses: Int64 = 0

    /// This takes some 20 MB in a recording.
    package static let usualLimit = 3_000_000
    private static let latest: Int64 = 1 << 60

    package init(limit: Int = usualLimit) { self.limit = limit }

    /// Continues in another recording, or in another part of one.
    ///
    /// - Parameter numbers: the new indices of threads. Other threads are not reported any more.
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

    // MARK: - Events

    package mutating func list(_ thread: ThreadIndex, tid: Int32) {
        indices[tid, default: []].append(thread)
    }

    /// The records of a thread must come in order.
    package mutating func add(_ records: [SchedulerRecord]) {
        for record in records { add(record) }
    }

    package mutating func add(_ record: SchedulerRecord) {
        if 0...Self.latest ~= record.time.nanoseconds { take(record) }
    }

    /// Ends all current activities.
    package mutating func finish(at end: MonotonicTime) {
        finishEnded()
        for tid in tracks.keys.sorted() { finish(tid, at: end) }
    }

    /// Announces that these threads end at that time, or have ended. Later records may be about
    /// earlier events: the scheduler's reports come a tick or two late.
    package mutating func expectEnd(
        of threads: some Sequence<(tid: Int32, index: ThreadIndex)>, at end: MonotonicTime
    ) {
        for (tid, index) in threads where indices[tid]?.contains(index) == true {
            // The previous thread with this id must have ended.
            if let other = ending[tid], other.index != index { finishEnded(tid) }
            ending[tid] = (index, end)
        }
    }

    /// Ends the last activities of threads that have ended: no more reports of them will come.
    ///
    /// - Parameter kept: threads for which reports may still come.
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

    /// Makes room for further results, in the same memory.
    package mutating func removeResult() {
        result.runs.removeAll(keepingCapacity: true)
        result.wakeups.removeAll(keepingCapacity: true)
    }

    private mutating func take(_ record: SchedulerRecord) {
        let (tid, time) = (record.tid, record.time)
        if case .lost(let since) = record.kind { return lose(tid, since: since, until: time) }
        if let (_, end) = ending[tid], end < time { finishEnded(tid) }
        // The record is out of order for some reason: its content is known already.
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
        // The early waker matters only until the thread has a core again.
        if case .waiting = activity { tracks[tid]?.earlyWaker = waker }
    }

    private mutating func arrive(_ tid: Int32, at time: MonotonicTime) {
        guard let track = tracks[tid] else { return }
        switch track.activity {
        case .waiting(woken: nil):
            // The thread was woken while it was about to leave its core.
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
        // Its arrival would have been reported, so the thread had the core all the time.
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
        // The next thread with this id is a different one. The exception is a thread that executes
        // a program and so replaces its process's first thread.
        if let known = indices[tid], known.count > 1 { indices[tid]?.removeFirst() }
    }

    // MARK: Results

    /// Reports what a thread has done up to `end`.
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
        // Records that came late may contradict earlier ones.
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

/// One event of the kernel's scheduler for a thread of the process, as reported.
package struct SchedulerRecord: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// From here on, all events of the thread are reported. Its current activity is unknown.
        case watched
        /// It was created, and wants a core.
        case began(creator: Int32)
        /// It got a core.
        case arrived(core: Int32)
        /// It left its core.
        case left(Departure, core: Int32)
        /// Its wait ended; it does not have a core yet.
        case woken(Waker)
        case ended
        /// Its events since then were lost; thread 0: those of any thread.
        case lost(since: MonotonicTime)
    }

    package enum Departure: Hashable, Sendable {
        /// The thread was not done: other work came first, or the profiler stopped it.
        case pushed
        case waiting
    }

    package struct Waker: Hashable, Sendable {
        /// The thread on the core where it happened; 0: none.
        package var tid: Int32
        /// Empty for a thread of the process, and if unknown.
        package var name: String
        package var isInterrupt: Bool

        package init(tid: Int32, name: String = "", isInterrupt: Bool = false) {
            self.tid = tid
            self.name = name
            self.isInterrupt = isInterrupt
        }
    }

    package var time: MonotonicTime
    package var tid: Int32
    package var kind: Kind

    package init(_ time: MonotonicTime, _ tid: Int32, _ kind: Kind) {
        self.time = time
        self.tid = tid
        self.kind = kind
    }
}
