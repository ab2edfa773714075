package import Analysis
package import ProfileModel

extension Store {
    /// The development of launches, computed by the server from all shipped measurements.
    ///
    /// - Parameter programs: their names; empty: all.
    package func history(
        of programs: [String], by grouping: LaunchHistory.Grouping,
        machines: LaunchHistory.Machines, goal: TimeSpan?
    ) throws(StoreError) -> LaunchHistory {
        let question = HistoryQuestion(programs, grouping, machines)
        var answer = try ask(question.series)
        let series = try answer.rows { row throws(StoreError) in try StoredSeries(&row) }
        let points = Dictionary(grouping: try storedPoints(question), by: \.series)
        return LaunchHistory(
            grouping, goal: goal,
            series: series.compactMap { one in
                points[one.number].map { points in
                    HistorySeries(
                        one.circumstances, machines: one.machines, points.map(\.point))
                }
            })
    }

    private func storedPoints(
        _ question: HistoryQuestion
    ) throws(StoreError) -> [StoredPoint] {
        // Launches may be shipped between two queries.
        for _ in 0..<Self.attempts {
            var answer = try ask(question.counts)
            var expected = 0
            let ranks = try answer.rows { row throws(StoreError) in
                let count = try row.count(most: HistoryQuestion.mostWalls)
                expected += try row.count(most: HistoryQuestion.mostWalls)
                return (count, HistoryRanks(count: count))
            }
            var points: [StoredPoint] = []
            var rest = ranks[...]
            while !rest.isEmpty {
                let part = Dictionary(rest.prefix(HistoryQuestion.mostCounts)) { one, _ in one }
                rest = rest.dropFirst(HistoryQuestion.mostCounts)
                answer = try ask(question.points(part))
                points += try answer.rows { row throws(StoreError) in
                    try StoredPoint(&row, part)
                }
            }
            guard points.count == expected else { continue }
            return points.sorted { ($0.series, $0.first) < ($1.series, $1.first) }
        }
        throw .changing
    }

    private static let attempts = 5
}

/// A series without its points.
private struct StoredSeries {
    let number: UInt64
    let machines: Int
    let circumstances: Measurement

    init(_ row: inout RowBinaryReader) throws(StoreError) {
        number = try row.integer()
        machines = try row.count()
        circumstances = try Measurement(latest: &row)
    }
}

/// One point of a series.
private struct StoredPoint {
    let series: UInt64
    let point: HistoryPoint
    /// The date and the file of its first session.
    var first: First { First(date: point.firstDate, file: point.sessions.first?.file ?? "") }

    struct First: Comparable {
        var date: Int64
        var file: String

        static func < (one: First, other: First) -> Bool {
            (one.date, one.file) < (other.date, other.file)
        }
    }

    init(_ row: inout RowBinaryReader, _ ranks: [Int: HistoryRanks]) throws(StoreError) {
        series = try row.integer()
        let label = try Self.label(&row)
        let launches = try row.count()
        let count = try row.count(most: HistoryQuestion.mostWalls)
        let median = try row.double()
        let values = try row.list { row throws(StoreError) in Double(try row.integer(Int64.self)) }
        guard values.count == HistoryQuestion.rankCount else { throw .malformed }
        let phases = try row.list { row throws(StoreError) in
            HistoryPhase(name: try row.text(), median: try row.double())
        }
        let sessions = try row.list { row throws(StoreError) in try HistorySession(&row) }
        guard let rank = ranks[count], !sessions.isEmpty else { throw .malformed }
        let percentile = rank.percentile90.map { _ in
            HistoryFigure(
                values[2],
                rank.percentile90Interval.map { (values[3], values[4], $0.confidence) })
        }
        point = HistoryPoint(
            label, sessions: sessions, launches: launches,
            median: HistoryFigure(
                median, rank.median.map { (values[0], values[1], $0.confidence) }),
            percentile90: percentile, phases: phases)
    }

    /// From a date in nanoseconds since 1970.
    private static let lastDay = Int64.max / 86_400_000_000_000 - 1

    private static func label(
        _ row: inout RowBinaryReader
    ) throws(StoreError) -> HistoryPoint.Label {
        let kind = try row.integer(UInt8.self)
        let (version, number) = (try row.text(), try row.integer(Int64.self))
        switch kind {
        case 0: return .version(version)
        case 1: return .unnamed(number)
        default:
            guard 0...Self.lastDay ~= number else { throw .malformed }
            return .day(number)
        }
    }
}

extension HistorySession {
    fileprivate init(_ row: inout RowBinaryReader) throws(StoreError) {
        let file = try row.text()
        let version = try row.optional { row throws(StoreError) in try row.text() }
        let date = try row.integer(Int64.self)
        let ending = Measurement.Ending(rawValue: try row.text()) ?? .unknown
        let launches = Int(try row.integer(UInt32.self))
        self.init(
            file: file, version: version, date: date, ending: ending, launches: launches,
            median: try row.double())
    }
}
