import Foundation

/// The output of `firstlight gate --format json`, as far as it is used here (docs/json.md). Unknown
/// members are ignored; missing ones are an error.
struct GateDocument: Decodable, Sendable {
    /// The schema that we read.
    static let schema = 1

    enum Verdict: String, Decodable, Sendable {
        case passed, regression, inconclusive
    }

    /// How much slower the program launches.
    struct Difference: Decodable, Sendable {
        /// As fractions; nil: unknown.
        var change: Double?
        var low: Double?
        var high: Double?
        var differenceNs: Double
    }

    /// Figures of a baseline that could not be launched again.
    struct Stored: Decodable, Sendable {
        var difference: Difference?
    }

    var verdict: Verdict
    /// The verdict in one line.
    var text: String
    var grounds: [String]
    /// nil: too few launches count, or the baseline could not be launched.
    var comparison: Difference?
    var stored: Stored?

    init(_ data: Data) throws(LaunchMetricError) {
        self = try ReportKind.decode(data, "gate", schema: Self.schema)
    }

    var launchVerdict: LaunchVerdict {
        let found = comparison ?? stored?.difference
        return LaunchVerdict(
            outcome: outcome, sentence: ([text] + grounds).joined(separator: "; "),
            change: found?.change, bounds: interval(found?.low, found?.high) { $0 },
            difference: found.map { .time($0.differenceNs) })
    }

    private var outcome: LaunchVerdict.Outcome {
        switch verdict {
        case .passed: .passed
        case .regression: .failed
        case .inconclusive: .inconclusive
        }
    }
}

/// The members that all reports have in common.
struct ReportKind: Decodable {
    var schema: Int
    var kind: String?

    /// Throws if it is another report than the expected one, or of a schema that we do not read.
    static func decode<Document: Decodable>(
        _ data: Data, _ expected: String, schema: Int
    ) throws(LaunchMetricError) -> Document {
        do {
            let found = try JSONDecoder().decode(ReportKind.self, from: data)
            guard found.kind == expected else {
                throw LaunchMetricError.unreadable(
                    "firstlight printed no \(expected), but \(found.kind ?? "something else")")
            }
            guard found.schema == schema else {
                throw LaunchMetricError.unreadable(
                    "firstlight prints schema \(found.schema), and LaunchMetric reads schema "
                        + "\(schema); use the same version of both")
            }
            return try JSONDecoder().decode(Document.self, from: data)
        } catch let error as LaunchMetricError {
            throw error
        } catch {
            throw .unreadable("cannot read what firstlight printed: \(error)")
        }
    }
}
