package import Analysis
package import ProfileModel

extension Store {
    /// How launches developed, reckoned by the server out of all measurements that were shipped.
    ///
    /// - Parameter programs: their names; none: all.
    package func history(
        of programs: [String], by grouping: LaunchHistory.Grouping,
        machines: LaunchHistory.Machines, goal: TimeSpan?
    ) throws(StoreError) -> LaunchHistory {
        let question = HistoryQuestion(programs, grouping, machines)
        var answer = try ask(question.series)
        let series = try answer.rows { row throws(StoreError) in try StoredSeries(&row) }
        var points: [UInt64: [HistoryPoint]] = [:]
        for point in try storedPoints(question) {
            points[point.series, default: []].append(point.point)
        }
        return LaunchHistory(
            grouping, goal: goal,
            series: series.compactMap { one in
                points[one.number].map {
                    HistorySeries(one.circumstances, machines: one.machines, $0)
                }
            })
    }

    private func storedPoints(
        _ question: HistoryQuestion
    ) throws(StoreError) -> [StoredPoint] {
        // Between two questions somebody may ship.
        for _ in 0..<3 {
            var counted = try ask(question.counts)
            let counts = try counted.rows { row throws(StoreError) in
                try row.integer(UInt64.self)
            }
            let ranks = Dictionary(
                counts.compactMap { Int(exactly: $0) }.map { ($0, HistoryRanks(count: $0)) }
            ) { one, _ in one }
            guard !ranks.isEmpty else { return [] }
            var answer = try ask(question.points(ranks))
            let points = try answer.rows { row throws(StoreError) in
                try StoredPoint(&row, ranks)
            }
            if points.allSatisfy(\.isKnown) { return points }
        }
        throw .malformed
    }
}

/// A series without its points.
private struct StoredSeries {
    let number: UInt64
    let machines: Int
    let circumstances: Measurement

    init(_ row: inout RowBinaryReader) throws(StoreError) {
        number = try row.integer()
        machines = Int(clamping: try row.integer(UInt64.self))
        let path = try row.text()
        let called = try row.text()
        let arguments = try row.list { row throws(StoreError) in try row.text() }
        let cache = try row.text()
        let network = try row.optional { row throws(StoreError) in try row.text() }
        let diskRate = try row.optional { row throws(StoreError) in try row.integer(Int64.self) }
        let until = try row.list { row throws(StoreError) in try row.text() }
        let machine = try Self.machine(&row)
        let version = try row.optional { row throws(StoreError) in try row.text() }
        let recorder = try row.text()
        let requested = Int(clamping: try row.integer(Int64.self))
        var header = Measurement.Header(
            requested: requested, versionName: version, recorderVersion: recorder,
            date: try row.integer())
        header.ending = Measurement.Ending(rawValue: try row.text()) ?? .unknown
        circumstances = Measurement(
            header: header, arms: [MeasuredArm(command: [called] + arguments, path: path)],
            conditions: MeasuredConditions(
                cache: MeasuredConditions.Cache(rawValue: cache) ?? .warm, network: network,
                diskRate: diskRate, until: until),
            machine: machine)
    }

    private static func machine(
        _ row: inout RowBinaryReader
    ) throws(StoreError) -> MeasuredMachine {
        MeasuredMachine(
            host: try row.text(), kernel: try row.text(), architecture: try row.text(),
            processor: try row.text(), cores: Int(clamping: try row.integer(Int64.self)),
            memory: try row.integer(),
            governor: try row.optional { row throws(StoreError) in try row.text() },
            boot: try row.optional { row throws(StoreError) in try row.text() })
    }
}

/// One point of a series.
private struct StoredPoint {
    let series: UInt64
    let point: HistoryPoint
    /// Whether its ranks were asked for.
    let isKnown: Bool

    init(_ row: inout RowBinaryReader, _ ranks: [Int: HistoryRanks]) throws(StoreError) {
        series = try row.integer()
        let label = try Self.label(&row)
        let launches = Int(clamping: try row.integer(UInt64.self))
        let count = Int(clamping: try row.integer(UInt64.self))
        let median = try row.double()
        let values = try row.list { row throws(StoreError) in Double(try row.integer(Int64.self)) }
        guard values.count == HistoryQuestion.rankCount else { throw .malformed }
        let phases = try row.list { row throws(StoreError) in
            HistoryPhase(name: try row.text(), median: try row.double())
        }
        let sessions = try row.list { row throws(StoreError) in try HistorySession(&row) }
        let rank = ranks[count]
        isKnown = rank != nil
        let percentile = rank?.percentile90.map { _ in
            HistoryFigure(
                values[2],
                rank?.percentile90Interval.map { (values[3], values[4], $0.confidence) })
        }
        point = HistoryPoint(
            label, sessions: sessions, launches: launches,
            median: HistoryFigure(
                median, rank?.median.map { (values[0], values[1], $0.confidence) }),
            percentile90: percentile, phases: phases)
    }

    private static func label(
        _ row: inout RowBinaryReader
    ) throws(StoreError) -> HistoryPoint.Label {
        let kind = try row.integer(UInt8.self)
        let (version, number) = (try row.text(), try row.integer(Int64.self))
        switch kind {
        case 0: return .version(version)
        case 1: return .unnamed(number)
        default: return .day(number)
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
