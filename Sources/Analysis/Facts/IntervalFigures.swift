package import ProfileModel

/// An interval that the program reported, or a mark, with its cost.
package struct IntervalFigures: Hashable, Sendable {
    package var name: String
    /// Empty for a mark.
    package var category: String
    /// Empty where the program names none.
    package var subsystem: String
    /// The thread that began it, in the profile's list; nil: not known.
    package var thread: Int?
    /// Since the launch's start; negative for one that began before.
    package var start: TimeSpan
    package var wall: TimeSpan
    /// CPU time of its own thread during it, within the launch; nil: the thread is not known.
    package var threadCPU: TimeSpan?
    /// CPU time of all threads during it, within the launch: the sum of its tree.
    package var cpu: TimeSpan
    /// False: its end was not seen; `wall` is a lower bound.
    package var isComplete: Bool

    /// Whether it makes a phase rather than a point of interest.
    package var isPhase: Bool {
        category == SignpostPhases.launchCategory || category == SignpostPhases.extendedCategory
    }
    package var end: TimeSpan { start + wall }
}

/// A point in the program's time.
package struct SignpostFigures: Hashable, Sendable {
    package var name: String
    package var category: String
    package var subsystem: String
    /// In the profile's list; nil: not known.
    package var thread: Int?
    /// Since the launch's start; negative before.
    package var time: TimeSpan
}

/// When the launch was over, and by which criterion.
package struct ReadyFigures: Hashable, Sendable {
    /// Since the launch's start; never negative.
    package var time: TimeSpan
    /// In the words of `--until`.
    package var by: String
}

extension IntervalFigures {
    /// In the order of their starts; the longer first, then as they were reported.
    static func all(
        of recording: Recording, _ plan: PhasePlan, parts: PartList, cutter: PartCutter
    ) -> [IntervalFigures] {
        guard !recording.intervals.isEmpty else { return [] }
        let order = recording.intervals.indices.sorted {
            let (left, right) = (recording.intervals[$0], recording.intervals[$1])
            return (left.start, right.end, $0) < (right.start, left.end, $1)
        }
        let clock = IntervalClock(recording, parts, cutter)
        return order.map { index in
            let interval = recording.intervals[index]
            let thread = recording.position(of: interval.thread)
            let (start, end) = (interval.start.clamped, interval.end.clamped)
            let window = plan.window(from: start, to: end)
            return IntervalFigures(
                name: interval.name, category: interval.category, subsystem: interval.subsystem,
                thread: thread, start: start - plan.start, wall: max(.zero, end - start),
                threadCPU: thread.map { clock.cpu(of: $0, in: window) },
                cpu: clock.cpu(in: window), isComplete: interval.isComplete)
        }
    }
}

/// The CPU time within windows whose ends are borders.
private struct IntervalClock {
    private let cutter: PartCutter
    private let all: [TimeSpan]
    private var threads: [Int: [TimeSpan]] = [:]

    init(_ recording: Recording, _ parts: PartList, _ cutter: PartCutter) {
        self.cutter = cutter
        all = cutter.cpuUpToBorders(parts)
        let wanted = Set(recording.intervals.compactMap { $0.thread?.rawValue })
        var byThread: [Int: [Int]] = [:]
        for (position, part) in parts.enumerated() where wanted.contains(Int(part.thread)) {
            byThread[Int(part.thread), default: []].append(position)
        }
        threads = byThread.mapValues { list in
            cutter.cpuUpToBorders(list.lazy.map { parts[$0] })
        }
    }

    func cpu(in window: Range<TimeSpan>) -> TimeSpan { Self.between(window, all, cutter) }

    func cpu(of thread: Int, in window: Range<TimeSpan>) -> TimeSpan {
        threads[thread].map { Self.between(window, $0, cutter) } ?? .zero
    }

    private static func between(
        _ window: Range<TimeSpan>, _ sums: [TimeSpan], _ cutter: PartCutter
    ) -> TimeSpan {
        guard let first = cutter.index(of: window.lowerBound),
            let last = cutter.index(of: window.upperBound)
        else { return .zero }
        return sums[last] - sums[first]
    }
}

extension SignpostFigures {
    /// In the order of their times.
    static func all(of recording: Recording, since start: MonotonicTime) -> [SignpostFigures] {
        recording.signposts.indices.sorted {
            (recording.signposts[$0].time, $0) < (recording.signposts[$1].time, $1)
        }.map { index in
            let signpost = recording.signposts[index]
            return SignpostFigures(
                name: signpost.name, category: signpost.category, subsystem: signpost.subsystem,
                thread: recording.position(of: signpost.thread),
                time: signpost.time.clamped - start)
        }
    }
}

extension Recording {
    /// Also nil for a thread that is not listed.
    fileprivate func position(of thread: ThreadIndex?) -> Int? {
        thread.flatMap { threads.indices.contains($0.rawValue) ? $0.rawValue : nil }
    }
}

extension PhasePlan {
    /// The part of a stretch within the launch, since its start; empty if there is none.
    func window(from start: MonotonicTime, to end: MonotonicTime) -> Range<TimeSpan> {
        let first = within(start) - self.start
        return first..<max(first, within(end) - self.start)
    }

    /// The times at which slices are divided, besides the borders of phases.
    func cutter(for recording: Recording) -> PartCutter {
        let times =
            recording.intervals.flatMap { [$0.start, $0.end] }
            + recording.initializers.flatMap { [$0.start, $0.end] }
        return PartCutter(times.lazy.map { within($0.clamped) - start })
    }
}
