import Analysis

/// The queries for a comparison of two versions.
struct CompareQuestion {
    private let program: String
    private let after: String
    private let filter: String
    private let key: String

    init(_ request: VersionRequest) {
        program = SQL.text(request.program)
        after = SQL.text(request.after)
        key = SessionColumns.series(request.machines)
        filter =
            "\(Self.measured(request.program)) AND version IN "
            + SQL.list([request.before, request.after])
    }

    /// Sessions with at least one launch that counts.
    private static func measured(_ program: String) -> String {
        "kind = 'measurement' AND launches > 0 AND program = \(SQL.text(program))"
    }

    /// The names of versions that begin with a text. An exact match comes first.
    static func versions(of program: String, beginning text: String) -> String {
        """
        SELECT DISTINCT assumeNotNull(version) AS name FROM sessions FINAL
        WHERE \(measured(program)) AND isNotNull(version)
            AND startsWith(ifNull(version, ''), \(SQL.text(text)))
        ORDER BY name != \(SQL.text(text)), name LIMIT \(mostVersions)
        """
    }

    /// More would not be readable in a line.
    private static let mostVersions = 6

    /// A row for each series and version; side 1 is the later one.
    var members: String {
        """
        SELECT series, side, sessions, machines, launched, first, \(SessionColumns.ofLatest) FROM (
            SELECT series, side, count() AS sessions, uniqExact(host) AS machines,
                toUInt64(sum(launches)) AS launched, min(toUnixTimestamp64Nano(date)) AS first,
                \(SessionColumns.latest) AS latest
            FROM (SELECT *, \(key) AS series, \(side) AS side FROM sessions FINAL WHERE \(filter))
            GROUP BY series, side
        ) ORDER BY side, first, series
        """
    }

    private var side: String { "toUInt8(ifNull(version, '') = \(after))" }

    // MARK: Launches of a series

    private func sessions(_ series: UInt64) -> String {
        """
        SELECT session, date, file, \(side) AS side FROM sessions FINAL
        WHERE \(filter) AND \(key) = \(series)
        """
    }

    /// The launches that count.
    private func launches(_ series: UInt64) -> String {
        """
        SELECT of.side AS side, of.date AS date, of.file AS file, one.launch AS launch,
            one.wall AS wall, one.phase_names AS names, one.phase_walls AS walls
        FROM (
            SELECT session, launch, wall, phase_names, phase_walls FROM launches FINAL
            WHERE program = \(program) AND arm = 0 AND discarded = ''
                AND session IN (SELECT session FROM (\(sessions(series))))
        ) AS one
        INNER JOIN (\(sessions(series))) AS of ON of.session = one.session
        """
    }

    /// The number of launches of the later and of the earlier version: those that took time, and all.
    func counts(_ series: UInt64) -> String {
        """
        SELECT countIf(side = 1 AND wall > 0), countIf(side = 0 AND wall > 0), countIf(side = 1),
            countIf(side = 0)
        FROM (\(launches(series)))
        """
    }

    /// In the order in which they first appear, the earlier version's first.
    func phases(_ series: UInt64) -> String {
        """
        SELECT toString(name) FROM (\(launches(series)))
        ARRAY JOIN names AS name, arrayEnumerate(names) AS place
        GROUP BY name ORDER BY min((side, date, file, launch, place))
        LIMIT \(HistoryPhase.mostLooked)
        """
    }

    // MARK: Differences

    /// The most differences that one query sorts.
    private static let mostDifferences = 8_000_000
    /// The server limits the length of a query.
    private static let mostNames = 100

    /// The number of phases per query.
    static func phasesAtOnce(_ ranks: ShiftRanks) -> Int {
        min(mostNames, max(1, mostDifferences / ranks.count))
    }

    /// One row, for the whole launches. Launches that took no time are left out.
    func launchDifference(_ series: UInt64, _ ranks: ShiftRanks) -> String {
        differences(
            """
            SELECT side, toUInt64(1) AS number, wall AS value FROM (\(launches(series)))
            WHERE wall > 0
            """, ranks)
    }

    /// A row for each phase. A launch that does not have it spends no time in it.
    func phaseDifferences(_ series: UInt64, _ names: [String], _ ranks: ShiftRanks) -> String {
        let list = names.map(SQL.text).joined(separator: ", ")
        return differences(
            """
            SELECT side, toUInt64(number) AS number, value FROM (
                SELECT side, arrayMap(
                    wanted -> arraySum(
                        (name, wall) -> if(name = wanted, wall, toInt64(0)), names, walls),
                    [\(list)]) AS sums
                FROM (\(launches(series)))
            ) ARRAY JOIN sums AS value, arrayEnumerate(sums) AS number
            """, ranks)
    }

    /// Forms the differences of all pairs of values of both versions, and their ratios, and takes the
    /// values at the ranks.
    ///
    /// - Parameter values: a query for side, number and value. The result has a row for each number.
    private func differences(_ values: String, _ ranks: ShiftRanks) -> String {
        """
        SELECT number, length(all_after), length(all_before), \(Self.median("all_after")),
            \(Self.median("all_before")), \(Self.ranked("a - b", ranks)),
            if(after[1] > 0 AND before[1] > 0, \(Self.ranked("a / b", ranks)), emptyArrayFloat64())
        FROM (
            SELECT *, \(Self.thinned("all_after")) AS after,
                \(Self.thinned("all_before")) AS before
            FROM (
                SELECT number, arraySort(groupArrayIf(value, side = 1)) AS all_after,
                    arraySort(groupArrayIf(value, side = 0)) AS all_before
                FROM (\(values)) GROUP BY number
            )
        ) ORDER BY number
        """
    }

    /// If the number of values is even, the mean of the middle two.
    private static func median(_ values: String) -> String {
        """
        \(values)[intDiv(length(\(values)) + 1, 2)] / 2 \
        + \(values)[intDiv(length(\(values)), 2) + 1] / 2
        """
    }

    /// Like ``ThinnedValues``: the value at 0-based `place` stays if there is a whole number i so that
    /// i × (count − 1) / (most − 1), rounded down, is `place`.
    private static func thinned(_ values: String) -> String {
        let steps = ThinnedValues.most - 1
        let gaps = "greatest(gaps, 1)"
        let place = "toUInt64(rank - 1)"
        let number = "intDiv(\(place) * \(steps) + \(gaps) - 1, \(gaps))"
        return """
            arrayFilter((value, rank, gaps) -> gaps < \(ThinnedValues.most)
                    OR intDiv(\(number) * \(gaps), \(steps)) = \(place),
                \(values), arrayEnumerate(\(values)),
                arrayWithConstant(length(\(values)), length(\(values)) - 1))
            """
    }

    /// quantilesExact takes the value at 0-based place level × count, rounded down; half a place more
    /// keeps clear of rounding.
    private static func ranked(_ pair: String, _ ranks: ShiftRanks) -> String {
        let levels = [ranks.low, ranks.lowerMiddle, ranks.upperMiddle, ranks.high].map {
            "\((Double($0) - 0.5) / Double(ranks.count))"
        }
        return """
            arrayReduce('quantilesExact(\(levels.joined(separator: ", ")))',
                arrayFlatten(arrayMap(a -> arrayMap(b -> \(pair), before), after)))
            """
    }
}
