package import ProfileModel

/// The part of a measurement that a history keeps: its figures, without its launches' details. So
/// hundreds of measurements take little memory.
package struct HistorySession: Hashable, Sendable {
    /// The file that it was read from.
    package var file: String
    package var version: String?
    /// When it began, in nanoseconds since 1970 UTC.
    package var date: Int64
    package var ending: Measurement.Ending
    /// The number of launches that count.
    package var launches: Int
    /// Launches' wall times in nanoseconds, ascending; if there are very many, evenly spaced ones.
    /// Empty: a store has them, and computes with them.
    package var walls: [Double]
    /// In the order in which they first appear, the largest if there are many.
    package var phases: [HistoryPhase]

    /// The median of the launches, in nanoseconds.
    package var median: Double

    /// Takes the launches of the first program. The version of the second program, with which the
    /// first was compared, is not known.
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

    /// Made from figures that a store has computed; the store keeps the rest.
    package init(
        file: String, version: String?, date: Int64, ending: Measurement.Ending, launches: Int,
        median: Double
    ) {
        (self.file, self.version, self.date) = (file, version, date)
        (self.ending, self.launches, self.median) = (ending, launches, median)
        (walls, phases) = ([], [])
    }
}

/// The usual time of a phase: the median of launches, or of several sessions' medians. A launch
/// without the phase counts as 0.
package struct HistoryPhase: Hashable, Sendable {
    package var name: String
    /// In nanoseconds.
    package var median: Double

    package init(name: String, median: Double) {
        self.name = name
        self.median = median
    }

    /// A longer list would be unreadable.
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

    /// The phases that usually take any time, the largest if there are many.
    static func shown(of all: [HistoryPhase]) -> [HistoryPhase] {
        let shown = all.filter { $0.median > 0 }
        guard shown.count > most else { return shown }
        let least = shown.map(\.median).sorted(by: >)[most - 1]
        return Array(shown.filter { $0.median >= least }.prefix(most))
    }

    /// A limit, because even a small file could name very many phases.
    package static let mostLooked = 1_000
}
