import Analysis

/// The queries for a history. The server sorts the launches of each point, and takes the median and the
/// values at given ranks.
struct HistoryQuestion {
    private let filter: String
    private let label: String
    private let key: String

    init(
        _ programs: [String], _ grouping: LaunchHistory.Grouping,
        _ machines: LaunchHistory.Machines
    ) {
        let named = programs.isEmpty ? "" : " AND program IN \(SQL.list(programs))"
        filter = "kind = 'measurement' AND launches > 0\(named)"
        let date = "toUnixTimestamp64Nano(date)"
        switch grouping {
        case .version:
            label =
                "(toUInt8(isNull(version)), ifNull(version, ''), if(isNull(version), \(date), 0))"
        case .day: label = "(toUInt8(2), '', intDiv(\(date), 86400000000000))"
        }
        key = SessionColumns.series(machines)
    }

    private var sessions: String {
        """
        SELECT *, \(key) AS series, \(label) AS label,
            length(walls) AS n,
            if(n % 2 = 0, walls[intDiv(n, 2)] / 2 + walls[intDiv(n, 2) + 1] / 2,
                toFloat64(walls[intDiv(n, 2) + 1])) AS middle
        FROM sessions FINAL WHERE \(filter)
        """
    }

    /// One row for each series, with the columns of its latest session.
    var series: String {
        """
        SELECT series, machines, \(SessionColumns.ofLatest) FROM (
            SELECT series, uniqExact(host) AS machines, min(date) AS first,
                \(SessionColumns.latest) AS latest
            FROM (\(sessions)) GROUP BY series
        ) ORDER BY first, series
        """
    }

    /// The numbers of launches that points have, and how many points have each number.
    var counts: String {
        """
        SELECT total, count() FROM (
            SELECT sum(n) AS total FROM (\(sessions)) GROUP BY series, label
        ) GROUP BY total ORDER BY total
        """
    }

    /// A limit for the launches of a point; no real point reaches it.
    static let mostWalls: UInt64 = 100_000_000
    /// The most numbers of launches in one query: the server limits its length.
    static let mostCounts = 1_000
    /// The number of values of a point in addition to its median.
    static let rankCount = 5

    /// Only points whose number of launches is in `ranks`.
    func points(_ ranks: [Int: HistoryRanks]) -> String {
        let counts = ranks.sorted { $0.key < $1.key }
        let known = counts.map { "\($0.key)" }.joined(separator: ", ")
        let places = counts.indices.map { "\($0 + 1)" }.joined(separator: ", ")
        let values = counts.map { "[\(Self.values($0.value))]" }.joined(separator: ", ")
        return """
            SELECT series, label.1, label.2, toInt64(label.3), launched, total,
                if(total % 2 = 0, ascending[intDiv(total, 2)] / 2 + ascending[intDiv(total, 2) + 1] / 2,
                    toFloat64(ascending[intDiv(total, 2) + 1])),
                arrayMap(rank -> if(rank = 0, 0, ascending[greatest(rank, 1)]),
                    [\(values)][transform(total, [\(known)], [\(places)], 1)]),
                arrayZip(names, arrayMap(
                    v -> if(length(v) % 2 = 0,
                        v[intDiv(length(v), 2)] / 2 + v[intDiv(length(v), 2) + 1] / 2,
                        v[intDiv(length(v), 2) + 1]),
                    arrayMap(name -> arraySort(arrayMap(
                        (n, m) -> if(has(n, name), m[indexOf(n, name)], 0.),
                        ordered.7, ordered.8)), names))),
                arrayMap(s -> (s.2, s.3, toUnixTimestamp64Nano(s.1), s.4, s.5, s.6), ordered)
            FROM (
                SELECT series, label, toUInt64(sum(launches)) AS launched,
                    arraySort(arrayFlatten(groupArray(walls))) AS ascending, length(ascending) AS total,
                    arraySort(s -> (s.1, s.2), groupArray((date, file, version,
                        toString(ending), launches, middle, phase_names, phase_medians))) AS ordered,
                    arraySlice(arrayDistinct(arrayFlatten(ordered.7)), 1,
                        \(HistoryPhase.mostLooked)) AS names
                FROM (\(sessions)) GROUP BY series, label HAVING total IN (\(known))
            )
            """
    }

    /// Rank 0 means none.
    private static func values(_ ranks: HistoryRanks) -> String {
        [
            ranks.median?.low, ranks.median?.high, ranks.percentile90,
            ranks.percentile90Interval?.low, ranks.percentile90Interval?.high,
        ].map { "\($0 ?? 0)" }.joined(separator: ", ")
    }
}
