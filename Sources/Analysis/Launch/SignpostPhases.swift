import ProfileModel

/// Divides the last phase of a launch, which the program's own work fills, by signposts and
/// readiness. Intervals of the category `launch` become phases, and the time after readiness is
/// *Extended*.
struct SignpostPhases {
    static let launchCategory = "launch"
    static let extendedCategory = "extended"

    /// The most phases: a finer division would be unreadable. Beyond it, only the longest intervals
    /// count.
    static let most = 200

    private let launches: [Interval]
    private let extensions: [Interval]
    private let ready: MonotonicTime?

    init(_ recording: Recording) {
        launches = recording.intervals.filter { $0.category == Self.launchCategory }
        extensions = recording.intervals.filter { $0.category == Self.extendedCategory }
        ready = recording.ready?.time.clamped
    }

    /// The end of a launch whose recording ended at `end`: the end of the last `extended` interval
    /// that ends after readiness, if there is one.
    func launchEnd(from start: MonotonicTime, recorded end: MonotonicTime) -> MonotonicTime {
        guard let ready else { return end }
        let last = extensions.map(\.end.clamped).filter { $0 > ready }.max()
        return max(start, min(end, last ?? end))
    }

    /// The borders, including those of signposts and readiness.
    func divide(_ borders: [PhasePlan.Border], end: MonotonicTime) -> [PhasePlan.Border] {
        let before = borders.prefix { $0.group == .beforeMain }
        var result =
            before + divided(borders.dropFirst(before.count), until: min(ready ?? end, end))
        if let ready {
            // Later borders belong to *Extended*.
            result.removeAll { $0.time >= ready }
            result.append(
                PhasePlan.Border(name: Phase.Names.extended, group: .afterMain, time: ready))
        }
        return Array(result)
    }

    /// Makes a phase for each interval that does not lie in an earlier one. If an interval outlasts
    /// the earlier one, its remainder becomes a phase. The time after them belongs to the phase
    /// that it would have without them.
    private func divided(
        _ wholes: ArraySlice<PhasePlan.Border>, until end: MonotonicTime
    ) -> [PhasePlan.Border] {
        guard let first = wholes.first else { return [] }
        let stretches = outermost(from: first.time, until: end)
        var result: [PhasePlan.Border] = []
        var pending = wholes
        for (index, stretch) in stretches.enumerated() {
            while let next = pending.first, next.time <= stretch.start {
                result.append(next)
                pending.removeFirst()
            }
            result.append(
                PhasePlan.Border(name: stretch.name, group: first.group, time: stretch.start))
            pending = pending.drop { $0.time <= stretch.end }
            let nextStart = index + 1 < stretches.count ? stretches[index + 1].start : end
            if stretch.end < nextStart, var rest = wholes.last(where: { $0.time <= stretch.end }) {
                (rest.time, rest.precision) = (stretch.end, .zero)
                rest.counters = ProcessCounters()
                result.append(rest)
            }
        }
        return result + pending
    }

    private typealias Stretch = (name: String, start: MonotonicTime, end: MonotonicTime)

    private func outermost(from start: MonotonicTime, until end: MonotonicTime) -> [Stretch] {
        let sorted = launches.sorted {
            ($0.start, $1.end, $0.name) < ($1.start, $0.end, $1.name)
        }
        var stretches: [Stretch] = []
        var cursor = start
        for interval in sorted {
            let from = max(interval.start.clamped, cursor)
            let to = min(interval.end.clamped, end)
            guard from < to else { continue }
            stretches.append((interval.name, from, to))
            cursor = to
        }
        guard stretches.count > Self.most else { return stretches }
        let longest = stretches.indices.sorted {
            let (left, right) = (stretches[$0], stretches[$1])
            return (right.end - right.start, $0) < (left.end - left.start, $1)
        }
        return longest.prefix(Self.most).sorted().map { stretches[$0] }
    }
}
