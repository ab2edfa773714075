package import ProfileModel

/// The chain of running and waiting that determined the launch's duration. It goes backwards from
/// the launch's end on the main thread. Wherever that waited for another thread, it follows the
/// thread that ended the wait, for as long as the wait lasted.
package struct CriticalPath: Hashable, Sendable {
    package struct Segment: Hashable, Sendable {
        /// In the profile's list; of several threads, the one with the most time.
        package var thread: Int
        /// Since the launch's start.
        package var start: TimeSpan
        package var duration: TimeSpan
        /// Its state for most of the time; nil: not known.
        package var state: ThreadState?
        /// The parts of the duration; the remainder is not known.
        package var times: StateTimes
        /// The number of nested waits that it explains.
        package var depth: Int
        /// The number of stretches that were joined here because they were too short.
        package var stretches = 1
        /// The event that ended the thread's wait, or created the thread, right before.
        package var wakeup: Wakeup?
        /// The reason for which a blocked thread waited; nil: not known.
        package var reason: WaitReason?
        /// The heaviest stack, innermost first.
        package var stack: [FrameID] = []

        package var end: TimeSpan { start + duration }
        /// Whether it had work to do, with or without a core.
        fileprivate var isBusy: Bool { state != nil && state != .blocked }

        fileprivate func goesOn(in next: Segment) -> Bool {
            thread == next.thread && depth == next.depth
                && (isBusy ? next.isBusy : state == next.state)
        }
    }

    /// In order, and without gaps: they add up to the time from the launch's start to its end.
    package var segments: [Segment]
    /// The account that the path is based on: with wake-ups, other threads are followed, otherwise
    /// only the main thread.
    package var account: SchedulerAccount?

    package var duration: TimeSpan { segments.reduce(.zero) { $0 + $1.duration } }
}

extension Profile {
    /// The path to the time when the program was ready, or else to the end of the main thread or
    /// the launch.
    ///
    /// - Parameters:
    ///   - minDuration: shorter stretches are joined with their neighbours.
    ///   - leastShare: so are stretches with less than this share of the whole path.
    package func criticalPath(minDuration: TimeSpan, leastShare: Double = 0) -> CriticalPath {
        guard let main = threads.firstIndex(where: \.isMain) else {
            return CriticalPath(segments: [], account: header.account)
        }
        let isOver = threads[main].end > .zero ? threads[main].end : launch.wall
        let end = min(ready?.time ?? isOver, launch.wall)
        var walk = BackwardWalk(self, from: main, at: end)
        let share = TimeSpan(nanoseconds: Int64(Double(end.nanoseconds) * leastShare))
        let segments = walk.segments().joined().merged(below: max(minDuration, share))
        let stacks = ThreadParts(self)
        return CriticalPath(
            segments: segments.map { stacks.completed($0) }, account: header.account)
    }
}

extension [CriticalPath.Segment] {
    /// Joins a thread's stretches from one wait to the next into one segment: its preemptions in
    /// between do not each deserve a segment. It also joins the parts of one wait that several
    /// samples show.
    func joined() -> [CriticalPath.Segment] {
        var result: [CriticalPath.Segment] = []
        for segment in self {
            guard let last = result.last, last.goesOn(in: segment) else {
                result.append(segment)
                continue
            }
            result[result.count - 1].duration = last.duration + segment.duration
            result[result.count - 1].times = last.times + segment.times
        }
        for index in result.indices where result[index].isBusy {
            result[index].state = result[index].times.heaviest(of: result[index].duration)
        }
        return result
    }

    /// Joins adjacent short segments. No time is lost, and the result stays readable.
    func merged(below least: TimeSpan) -> [CriticalPath.Segment] {
        var result: [CriticalPath.Segment] = []
        var group = ShortStretches()
        for segment in self {
            if segment.duration >= least {
                if let short = group.taken() { result.append(short) }
                result.append(segment)
            } else {
                group.add(segment)
            }
        }
        if let short = group.taken() { result.append(short) }
        return result
    }
}

/// Consecutive stretches that are shown as one.
private struct ShortStretches {
    private var first: CriticalPath.Segment?
    private var duration = TimeSpan.zero
    private var times = StateTimes.zero
    private var count = 0
    private var byThread: [Int: TimeSpan] = [:]

    mutating func add(_ segment: CriticalPath.Segment) {
        if first == nil { first = segment }
        duration = duration + segment.duration
        times = times + segment.times
        count += segment.stretches
        byThread[segment.thread, default: .zero] =
            byThread[segment.thread, default: .zero] + segment.duration
    }

    mutating func taken() -> CriticalPath.Segment? {
        guard var result = first else { return nil }
        defer { self = ShortStretches() }
        if count > result.stretches { result.reason = nil }
        result.thread =
            byThread.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? result.thread
        result.duration = duration
        result.times = times
        result.stretches = count
        result.state = times.heaviest(of: duration)
        return result
    }
}

extension StateTimes {
    /// nil: most of the time is not known.
    fileprivate func heaviest(of duration: TimeSpan) -> ThreadState? {
        let most = ThreadState.allCases.max { self[$0] < self[$1] }
        return most.flatMap { self[$0] > .zero && self[$0] >= duration - wall ? $0 : nil }
    }
}
