package import Analysis
import ProfileModel

extension Store {
    /// The names of versions that begin with a text; only some if there are many. An exact match is
    /// always among them.
    package func versions(
        of program: String, beginning text: String
    ) throws(StoreError) -> [String] {
        var answer = try ask(CompareQuestion.versions(of: program, beginning: text))
        return try answer.rows { row throws(StoreError) in try row.text() }
    }

    /// All sessions of two versions, grouped by what can be compared.
    package func members(
        of request: VersionRequest
    ) throws(StoreError) -> [VersionPairs.Member] {
        var answer = try ask(CompareQuestion(request).members)
        return try answer.rows { row throws(StoreError) in try VersionPairs.Member(&row) }
    }

    /// The differences between the launches of two versions, computed by the server.
    ///
    /// - Returns: nil if one of them has no launches that took time.
    package func comparison(
        of pair: VersionPair, _ request: VersionRequest, rule: ComparisonRule = ComparisonRule()
    ) throws(StoreError) -> VersionComparison? {
        let differences = StoredDifferences(
            store: self, question: CompareQuestion(request), series: pair.series,
            confidence: rule.confidence)
        // Launches may be shipped between two queries.
        for _ in 0..<Self.attempts {
            let counts = try differences.counts()
            guard counts.launches.allSatisfy({ $0 > 0 }) else { return nil }
            guard let launch = try differences.ofLaunch(counts.launches),
                let phases = try differences.ofPhases(counts.all)
            else { continue }
            return VersionComparison(
                pair,
                MeasurementComparison(
                    launch: launch, phases: phases, mismatches: pair.mismatches,
                    dates: (pair.before.firstDate, pair.after.firstDate), rule: rule))
        }
        throw .changing
    }

    private static let attempts = 5
}

/// Queries about one series. All answers must be about the same number of launches.
private struct StoredDifferences {
    let store: Store
    let question: CompareQuestion
    let series: UInt64
    let confidence: Double

    /// Of the later and of the earlier version: launches that took time, and all that count.
    func counts() throws(StoreError) -> (launches: [Int], all: [Int]) {
        var answer = try store.ask(question.counts(series))
        var counts: [Int] = []
        for _ in 0..<4 { counts.append(try answer.count(most: HistoryQuestion.mostWalls)) }
        guard answer.isAtEnd else { throw .malformed }
        return (Array(counts[..<2]), Array(counts[2...]))
    }

    /// - Returns: nil if the number of launches has changed.
    func ofLaunch(_ counts: [Int]) throws(StoreError) -> UnpairedDifference? {
        let ranks = ranks(counts, confidence)
        return try differences(
            question.launchDifference(series, ranks), counts, ranks, expected: 1)?.first
    }

    /// - Returns: nil if the number of launches has changed.
    func ofPhases(_ counts: [Int]) throws(StoreError) -> [MeasurementComparison.Part]? {
        var answer = try store.ask(question.phases(series))
        let names = try answer.rows { row throws(StoreError) in try row.text() }
        let ranks = ranks(
            counts, MeasurementComparison.confidence(ofEachOf: names.count, confidence))
        var parts: [MeasurementComparison.Part] = []
        while parts.count < names.count {
            let asked = Array(
                names[parts.count...].prefix(CompareQuestion.phasesAtOnce(ranks)))
            let text = question.phaseDifferences(series, asked, ranks)
            guard let found = try differences(text, counts, ranks, expected: asked.count) else {
                return nil
            }
            parts += zip(asked, found).map {
                MeasurementComparison.Part(name: $0, difference: $1)
            }
        }
        return parts
    }

    private func ranks(_ counts: [Int], _ confidence: Double) -> ShiftRanks {
        let kept = counts.map { min($0, ThinnedValues.most) }
        return ShiftRanks(counts: (kept[0], kept[1]), confidence: confidence)
    }

    /// - Returns: nil if the counts differ.
    private func differences(
        _ question: String, _ counts: [Int], _ ranks: ShiftRanks, expected: Int
    ) throws(StoreError) -> [UnpairedDifference]? {
        var answer = try store.ask(question)
        var number: UInt64 = 0
        let rows = try answer.rows { row throws(StoreError) in
            number += 1
            guard try row.integer(UInt64.self) == number else { throw .malformed }
            return try StoredDifference(&row)
        }
        guard rows.count == expected, rows.allSatisfy({ $0.counts == counts }) else {
            return nil
        }
        return rows.map { UnpairedDifference($0, ranks) }
    }
}

extension StoredDifference {
    fileprivate init(_ row: inout RowBinaryReader) throws(StoreError) {
        let counts = [
            try row.count(most: HistoryQuestion.mostWalls),
            try row.count(most: HistoryQuestion.mostWalls),
        ]
        let (median, medianBefore) = (try row.double(), try row.double())
        let differences = try row.list { row throws(StoreError) in
            Double(try row.integer(Int64.self))
        }
        let ratios = try row.list { row throws(StoreError) in try row.double() }
        guard let values = ShiftRanks.Values(differences), ratios.allSatisfy({ $0 > 0 }),
            median.isFinite, medianBefore.isFinite
        else { throw .malformed }
        self.init(
            counts: counts, median: median, medianBefore: medianBefore, differences: values,
            ratios: ShiftRanks.Values(ratios))
    }
}

extension ShiftRanks.Values {
    /// nil unless there are four numbers.
    fileprivate init?(_ values: [Double]) {
        guard values.count == 4, values.allSatisfy(\.isFinite) else { return nil }
        self.init(
            low: values[0], lowerMiddle: values[1], upperMiddle: values[2], high: values[3])
    }
}

extension VersionPairs.Member {
    fileprivate init(_ row: inout RowBinaryReader) throws(StoreError) {
        let series = try row.integer(UInt64.self)
        let isAfter = try row.bool()
        let (sessions, machines) = (try row.count(), try row.count())
        let (launches, first) = (try row.count(), try row.integer(Int64.self))
        self.init(
            series: series, side: isAfter ? .after : .before,
            sessions: VersionSessions(
                try Measurement(latest: &row), sessions: sessions, machines: machines,
                launches: launches, firstDate: first))
    }
}
