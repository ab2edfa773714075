package import ProfileModel

/// One version, or one day, of a series: all launches of its sessions together.
package struct HistoryPoint: Hashable, Sendable {
    package var label: Label
    /// In the order of time; at least one.
    package var sessions: [HistorySession]
    /// The number of launches that count.
    package var launches: Int
    package var median: HistoryFigure
    /// nil: fewer than 20 launches.
    package var percentile90: HistoryFigure?
    /// In the order in which they first appear.
    package var phases: [HistoryPhase]

    package enum Label: Hashable, Sendable {
        case version(String)
        /// A measurement without a version name; in nanoseconds since 1970 UTC.
        case unnamed(Int64)
        /// Days since 1970-01-01, UTC.
        case day(Int64)
    }

    /// When the first session began, and the last, in nanoseconds since 1970 UTC.
    package var firstDate: Int64 { sessions.first?.date ?? 0 }
    package var lastDate: Int64 { sessions.last?.date ?? 0 }

    /// Makes a point of figures that a store has computed.
    ///
    /// - Parameter phases: of all sessions, including those that usually take no time.
    package init(
        _ label: Label, sessions: [HistorySession], launches: Int, median: HistoryFigure,
        percentile90: HistoryFigure?, phases: [HistoryPhase]
    ) {
        self.label = label
        self.sessions = sessions
        self.launches = launches
        self.median = median
        self.percentile90 = percentile90
        self.phases = HistoryPhase.shown(of: phases)
    }

    /// - Returns: nil: there is no session.
    init?(_ label: Label, _ sessions: [HistorySession]) {
        let ordered = sessions.sorted { ($0.date, $0.file) < ($1.date, $1.file) }
        guard let all = SortedValues(ordered.flatMap(\.walls)) else { return nil }
        self.label = label
        self.sessions = ordered
        launches = ordered.reduce(0) { $0 + $1.launches }
        let confidence = HistoryRanks.confidence
        median = HistoryFigure(all.median, all.medianInterval(confidence: confidence))
        percentile90 =
            all.count >= HistoryRanks.leastForPercentile
            ? HistoryFigure(
                all.percentile90, all.percentileInterval(0.9, confidence: confidence)) : nil
        phases = HistoryPhase.medians(of: ordered)
    }
}

/// A percentile of launches, in nanoseconds, and the interval that contains the true one. The
/// interval includes the spread of launches within the sessions, but not the spread between
/// sessions.
package struct HistoryFigure: Hashable, Sendable {
    package var value: Double
    /// nil: too few launches.
    package var interval: Distribution.Interval?

    package init(_ value: Double, _ interval: (low: Double, high: Double, confidence: Double)?) {
        self.value = value
        self.interval = interval.map {
            Distribution.Interval(low: $0.low, high: $0.high, confidence: $0.confidence)
        }
    }
}

/// A step of a series, between two consecutive points.
package struct HistoryChange: Hashable, Sendable {
    /// The first point on the new level.
    package var point: Int
    package var step: ChangePoint
    /// The phase that changed most in the step's direction; nil: none did.
    package var phase: PhaseChange?

    package struct PhaseChange: Hashable, Sendable {
        package var name: String
        /// The difference between the medians of both levels, in nanoseconds.
        package var difference: Double
    }
}

/// Measurements that can be compared: of one program, on one machine or on machines that are alike,
/// under the same conditions.
package struct HistorySeries: Hashable, Sendable {
    /// The last measurement, without its launches: program, conditions, machine.
    package var circumstances: Measurement
    /// The number of machines on which they were made.
    package var machines: Int
    /// In the order of time.
    package var points: [HistoryPoint]
    package var changes: [HistoryChange]

    package var sessions: Int { points.reduce(0) { $0 + $1.sessions.count } }

    package init(
        _ circumstances: Measurement, machines: Int, _ points: [HistoryPoint],
        _ rule: ChangePointRule = ChangePointRule()
    ) {
        self.circumstances = circumstances
        self.machines = machines
        self.points = points
        let steps = ChangePointSearch.changes(in: points.map(\.median.value), rule: rule)
        let borders = steps.map(\.index) + [points.count]
        changes = steps.enumerated().map { place, step in
            let start = place > 0 ? steps[place - 1].index : 0
            return HistoryChange(
                point: step.index, step: step,
                phase: HistoryChange.phase(
                    from: points[start..<step.index], to: points[step.index..<borders[place + 1]],
                    rises: step.after > step.before))
        }
    }
}

extension HistoryChange {
    fileprivate static func phase(
        from before: ArraySlice<HistoryPoint>, to after: ArraySlice<HistoryPoint>, rises: Bool
    ) -> PhaseChange? {
        let (old, new) = (levels(before), levels(after))
        let sign: Double = rises ? 1 : -1
        let names = Set(old.keys).union(new.keys).sorted()
        let found = names.map { PhaseChange(name: $0, difference: (new[$0] ?? 0) - (old[$0] ?? 0)) }
            .max { $0.difference * sign < $1.difference * sign }
        return found.flatMap { $0.difference * sign > 0 ? $0 : nil }
    }

    /// The median of each phase; a point that does not have it spends no time in it.
    private static func levels(_ points: ArraySlice<HistoryPoint>) -> [String: Double] {
        var walls: [String: [Double]] = [:]
        for phase in points.lazy.flatMap(\.phases) {
            walls[phase.name, default: []].append(phase.median)
        }
        return walls.mapValues { known in
            let none = [Double](repeating: 0, count: max(0, points.count - known.count))
            return SortedValues(known + none)?.median ?? 0
        }
    }
}

/// The values of a point that a history shows, by their ranks alone: for a store that has the
/// values.
package struct HistoryRanks: Hashable, Sendable {
    /// Ranks of ascending values, counted from 1.
    package struct Interval: Hashable, Sendable {
        package var low: Int
        package var high: Int
        package var confidence: Double

        fileprivate init?(_ ranks: (low: Int, high: Int, confidence: Double)?) {
            guard let ranks else { return nil }
            (low, high, confidence) = ranks
        }
    }

    /// The interval that holds the true median; nil: a single value has none.
    package var median: Interval?
    /// nil: fewer than 20 values.
    package var percentile90: Int?
    /// nil: too few values.
    package var percentile90Interval: Interval?

    /// The confidence of the intervals.
    static let confidence = 0.95
    /// With fewer launches, no 90th percentile is shown.
    static let leastForPercentile = 20

    package init(count: Int) {
        median = Interval(SortedValues.medianRanks(count: count, confidence: Self.confidence))
        guard count >= Self.leastForPercentile else { return }
        percentile90 = SortedValues.percentile90Rank(count: count)
        percentile90Interval = Interval(
            SortedValues.percentileRanks(count: count, 0.9, confidence: Self.confidence))
    }
}
