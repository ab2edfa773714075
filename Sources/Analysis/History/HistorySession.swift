package import ProfileModel

/// What a history keeps of one measurement: its figures, without its launches' details. So hundreds
/// of measurements take little memory.
package struct HistorySession: Hashable, Sendable {
    /// What it was read from.
    package var file: String
    package var version: String?
    /// When it began, in nanoseconds since 1970 UTC.
    package var date: Int64
    package var ending: Measurement.Ending
    /// How many launches count.
    package var launches: Int
    /// Launches' wall times in nanoseconds, ascending; if there are very many, evenly spaced ones.
    /// Empty: a store has them, and computes with them.
    package var walls: [Double]
    /// In the order in which they first appear, the largest if there are many.
    package var phases: [HistoryPhase]

    /// The median of the launches, in nanoseconds.
    package var median: Double

    /// Takes the launches of the first program. Nobody knows which version the second program is,
    /// with which the first was compared.
    ///
    /// - Returns: nil: no launch counts.
    package init?(of measurement: Measurement, file: String) {
        let counted = measurement.countedLaunches
        guard let sorted = SortedValues(counted.map(\.wall.value)) else { return nil }
        self.file = file
        version = measurement.header.versionName
        date = measurement.header.date
        ending = measurement.header.ending
        launches = counted.count
        walls = ThinnedValues.of(sorted.values)
        median = SortedValues(walls)?.median ?? 0
        phases = HistoryPhase.medians(of: counted)
    }

    /// Of figures that a store has reckoned; it keeps the rest.
    package init(
        file: String, version: String?, date: Int64, ending: Measurement.Ending, launches: Int,
        median: Double
    ) {
        (self.file, self.version, self.date) = (file, version, date)
        (self.ending, self.launches, self.median) = (ending, launches, median)
        (walls, phases) = ([], [])
    }
}

/// How long a phase usually takes: the median of launches, or of several sessions' medians. A launch
/// that does not have it spends no time in it.
package struct HistoryPhase: Hashable, Sendable {
    package var name: String
    /// In nanoseconds.
    package var median: Double

    package init(name: String, median: Double) {
        self.name = name
        self.median = median
    }

    /// More than anybody reads.
    static let most = 40

    static func medians(of launches: [MeasuredLaunch]) -> [HistoryPhase] {
        medians(launches.map(\.phaseWalls), names: MeasuredLaunch.phaseNames(of: launches))
    }

    static func medians(of sessions: [HistorySession]) -> [HistoryPhase] {
        guard sessions.count > 1 else { return sessions.first?.phases ?? [] }
        var known: Set<String> = []
        let names = sessions.flatMap(\.phases).map(\.name).filter { known.insert($0).inserted }
        let walls = sessions.map { session in
            Dictionary(session.phases.map { ($0.name, $0.median) }) { one, _ in one }
        }
        return medians(walls, names: names)
    }

    private static func medians(_ walls: [[String: Double]], names: [String]) -> [HistoryPhase] {
        shown(
            of: names.prefix(mostLooked).compactMap { name in
                SortedValues(walls.map { $0[name] ?? 0 }).map {
                    HistoryPhase(name: name, median: $0.median)
                }
            })
    }

    /// Those that usually take any time, the largest if there are many.
    static func shown(of all: [HistoryPhase]) -> [HistoryPhase] {
        let shown = all.filter { $0.median > 0 }
        guard shown.count > most else { return shown }
        let least = shown.map(\.median).sorted(by: >)[most - 1]
        return Array(shown.filter { $0.median >= least }.prefix(most))
    }

    /// A small file could name very many.
    package static let mostLooked = 1_000
}
