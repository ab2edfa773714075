import ProfileModel

/// The state of each thread at each time: by the scheduler's own account, and by samples where that
/// has gaps.
struct ThreadParts {
    struct Stretch: Hashable {
        /// nil: not known.
        var state: ThreadState?
        var start: TimeSpan
        var end: TimeSpan
    }

    /// The most waits in one stretch: a limit for damaged files.
    private static let mostWaits = 64

    private let profile: Profile
    /// The positions of each thread's waits, by their ends.
    private let waits: [[Int32]]

    init(_ profile: Profile) {
        self.profile = profile
        let waits = profile.waits
        var positions = [[Int32]](repeating: [], count: profile.threads.count)
        for (position, wait) in waits.enumerated() {
            positions[wait.thread].append(Int32(truncatingIfNeeded: position))
        }
        for thread in positions.indices {
            positions[thread].putInOrder { waits[Int($0)].end < waits[Int($1)].end }
        }
        self.waits = positions
    }

    private func part(at position: Int32) -> Profile.Part { profile.parts[Int(position)] }
    private func wait(at position: Int32) -> WaitFigures { profile.waits[Int(position)] }

    /// The state of a thread right before a time.
    func stretch(of thread: Int, before time: TimeSpan) -> Stretch {
        let runs = profile.schedule.threads[thread]
        let moment = profile.start + time
        let index = runs.partitionIndex { $0.start >= moment } - 1
        guard index >= 0 else { return sampled(thread, before: time, after: .zero) }
        let run = runs[index]
        let (start, end) = (run.start - profile.start, run.end - profile.start)
        guard let state = run.state else { return sampled(thread, before: time, after: start) }
        guard end >= time else { return sampled(thread, before: time, after: end) }
        return Stretch(state: state, start: max(.zero, start), end: end)
    }

    /// The same from samples, for the time since another moment. A slice has each state's duration,
    /// but not its time. So the thread is assumed to have waited first, and done the rest after
    /// that.
    private func sampled(_ thread: Int, before time: TimeSpan, after floor: TimeSpan) -> Stretch {
        let list = profile.partIndex[thread]
        let index = list.partitionIndex { part(at: $0).start >= time } - 1
        let last = index >= 0 ? part(at: list[index]) : nil
        guard let part = last, part.end >= time else {
            return Stretch(state: nil, start: max(floor, last?.end ?? .zero), end: time)
        }
        var end = part.end
        for state in [ThreadState.running, .preempted, .runnable, .blocked] {
            let start = end - part.times[state]
            if start < time {
                return Stretch(state: state, start: max(floor, start), end: end)
            }
            end = start
        }
        return Stretch(state: nil, start: max(floor, part.start), end: time)
    }

    /// Whether nothing is known of a thread before a time.
    func isBeginning(of thread: Int, at time: TimeSpan) -> Bool {
        guard let first = profile.schedule.threads[thread].first else {
            // The time of a child's fork is known.
            return profile.threads[thread].child != nil && profile.threads[thread].start >= time
        }
        return first.start - profile.start >= time
    }

    /// The wait of a blocked stretch, as far as samples show. It may seem longer there, if the
    /// thread waited for something else before the next sample, and shorter, if that sample came
    /// late.
    func wait(of thread: Int, during stretch: Stretch) -> WaitFigures? {
        let list = waits[thread]
        func common(_ wait: WaitFigures) -> TimeSpan {
            min(wait.end, stretch.end) - max(wait.start, stretch.start)
        }
        let first = list.partitionIndex { wait(at: $0).end > stretch.start }
        let overlapping = list[first...].prefix(Self.mostWaits).lazy.map { wait(at: $0) }
            .prefix { $0.start < stretch.end }
        if let most = overlapping.max(by: { common($0) < common($1) }) { return most }
        // Samples may report it a little earlier.
        let last = first > 0 ? wait(at: list[first - 1]) : nil
        return last.flatMap { $0.end >= stretch.end - profile.header.tolerance ? $0 : nil }
    }

    /// The segment with the stack that its thread had for most of it, and with its wait's reason.
    func completed(_ segment: CriticalPath.Segment) -> CriticalPath.Segment {
        var result = segment
        var byLine: [Int32: TimeSpan] = [:]
        let list = profile.partIndex[segment.thread]
        for position in list[list.partitionIndex { part(at: $0).end > segment.start }...] {
            let part = part(at: position)
            guard part.start < segment.end else { break }
            byLine[part.line, default: .zero] =
                byLine[part.line, default: .zero]
                + (min(part.end, segment.end) - max(part.start, segment.start))
        }
        let heaviest = byLine.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        result.stack = heaviest.map { profile.frames(ofLine: $0) } ?? []
        if segment.state == .blocked, segment.stretches == 1 {
            result.reason = reason(of: segment)
        }
        return result
    }

    /// The reason of the wait that fills most of a segment.
    private func reason(of segment: CriticalPath.Segment) -> WaitReason? {
        func common(_ wait: WaitFigures) -> TimeSpan {
            min(wait.end, segment.end) - max(wait.start, segment.start)
        }
        let list = waits[segment.thread]
        return list[list.partitionIndex { wait(at: $0).end > segment.start }...].lazy.map {
            wait(at: $0)
        }
        .prefix { $0.start < segment.end }
        .max { common($0) < common($1) }?.reason
    }
}

extension Profile {
    /// Innermost first; without frames that only stand for a missing stack.
    fileprivate func frames(ofLine line: Int32) -> [FrameID] {
        var result: [FrameID] = []
        var next = line
        while next != PathTable.none {
            let frame = paths.sites[Int(paths.lines[Int(next)].site)].frame
            if !frames.function(of: frame).isNoStack { result.append(frame) }
            next = paths.lines[Int(next)].parent
        }
        return result
    }
}

extension Profile {
    /// The stretches that overlap a range and in which a thread was blocked, according to the
    /// scheduler: samples have only their sum. nil: the scheduler's account does not cover all of
    /// the range.
    func stretchesBlocked(of thread: Int, in range: Range<TimeSpan>) -> [Range<TimeSpan>]? {
        guard schedule.threads.indices.contains(thread) else { return nil }
        let runs = schedule.threads[thread]
        let first = runs.partitionIndex { $0.end > start + range.lowerBound }
        var result: [Range<TimeSpan>] = []
        var told = range.lowerBound
        for run in runs[first...] {
            let (begin, end) = (run.start - start, run.end - start)
            guard told < range.upperBound else { break }
            guard begin <= told, let state = run.state else { return nil }
            told = max(told, end)
            if state == .blocked, begin < end { result.append(begin..<end) }
        }
        return told < range.upperBound ? nil : result
    }
}
