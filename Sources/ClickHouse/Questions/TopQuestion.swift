import ProfileModel

/// The queries for the largest costs. The server adds them up.
struct TopQuestion {
    private let named: String
    private let phase: String

    /// - Parameter phase: nil: the whole launch.
    init(_ programs: [String], phase: String?) {
        named = programs.isEmpty ? "" : " AND program IN \(SQL.list(programs))"
        self.phase = SQL.text(phase ?? "")
    }

    var phases: String {
        """
        SELECT DISTINCT toString(phase) AS name FROM costs
        WHERE phase != ''\(named) AND \(isWhole) ORDER BY name
        """
    }

    private var sessions: String {
        "SELECT * FROM sessions FINAL WHERE kind = 'recording'\(named)"
    }

    /// A row for each program, with its launches' figures.
    var programs: String {
        """
        SELECT toString(program) AS name, countIf(failed), uniqExact(ifNull(ready_by, '')),
            uniqExact(capture), uniqExact(arguments)
        FROM (\(sessions)) GROUP BY name ORDER BY min((date, file))
        """
    }

    /// A row for each build. A launch without the phase spends no time in it.
    var versions: String {
        """
        SELECT program, build, count(), sum(wall), \(Self.squares("wall", "1")),
            argMin(file, (date, file)), min(intDiv(toUnixTimestamp64Nano(date), 1000000000)),
            argMax(file, (date, file)), max(intDiv(toUnixTimestamp64Nano(date), 1000000000))
        FROM (
            SELECT toString(one.program) AS program, one.build AS build, one.date AS date,
                one.file AS file, cost.wall AS wall
            FROM (\(sessions)) AS one
            LEFT JOIN (SELECT session, wall FROM costs FINAL WHERE phase = \(phase)\(named)) AS cost
            ON cost.session = one.session
        ) GROUP BY program, build ORDER BY program, min((date, file))
        """
    }

    /// A row for each thing in each build.
    var things: String {
        let shown = Self.sums.map { "sum_\($0)" }.joined(separator: ", ")
        return """
            SELECT toString(cost.program), cost.build, cost.thing, toInt8(named.kind), named.name,
                named.module, named.is_own, toString(named.reason), named.thread, named.file,
                named.line, if(detailed.told = seen AND least = most, least, NULL), seen, unknown,
                unused, \(shown), own_squares, total_squares
            FROM (\(costs)) AS cost
            INNER JOIN (SELECT * FROM things FINAL WHERE 1\(named)) AS named
            ON named.program = cost.program AND named.thing = cost.thing
            LEFT JOIN (\(details)) AS detailed
            ON detailed.program = cost.program AND detailed.build = cost.build
                AND detailed.thing = cost.thing
            ORDER BY cost.program, cost.thing
            """
    }

    private static let sums = ["ow", "oc", "ob", "tw", "tc", "tb", "times"]

    /// True if the row belongs to a completely shipped session.
    private var isWhole: String {
        "session IN (SELECT session FROM sessions WHERE kind = 'recording'\(named))"
    }

    private var condition: String {
        "phase = \(phase)\(named) AND \(isWhole)"
    }

    private var costs: String {
        let sums = Self.sums.map { "sum(\($0)) AS sum_\($0)" }.joined(separator: ", ")
        return """
            SELECT program, build, thing, count() AS seen, countIf(NOT is_known) AS unknown,
                countIf(NOT is_used) AS unused, \(sums),
                \(Self.squares("ow", "is_known")) AS own_squares,
                \(Self.squares("tw", "is_known")) AS total_squares
            FROM costs FINAL
            ARRAY JOIN things AS thing, own_walls AS ow, own_cpus AS oc, own_blocked AS ob,
                total_walls AS tw, total_cpus AS tc, total_blocked AS tb, counts AS times,
                known AS is_known, used AS is_used
            WHERE \(condition) GROUP BY program, build, thing
            """
    }

    private var details: String {
        """
        SELECT program, build, thing, count() AS told, min(detail) AS least, max(detail) AS most
        FROM costs FINAL ARRAY JOIN detailed AS thing, details AS detail
        WHERE \(condition) GROUP BY program, build, thing
        """
    }

    /// The sum of the squared distances from the mean, from whole numbers, so that nothing is lost.
    private static func squares(_ value: String, _ condition: String) -> String {
        let wide = "toInt256(sumIf(toInt128(\(value)) * \(value), \(condition)))"
        let sum = "toInt256(sumIf(\(value), \(condition)))"
        let count = "countIf(\(condition))"
        return "if(\(count) = 0, 0., toFloat64(\(count) * \(wide) - \(sum) * \(sum)) "
            + "/ \(count))"
    }
}
