import Analysis
import Exports
import ProfileModel

extension GateReport {
    /// The verdict for programs, by the schema in `docs/json.md`. Ends in a line break.
    ///
    /// - Parameter status: the exit status of the command.
    package func json(status: Int32) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.gate.version)
            writer.field("kind", "gate")
            writer.field("verdict", result.outcome.rawValue)
            writer.field("status", status)
            writer.field("text", verdict)
            writer.key("grounds")
            writer.array(grounds) { $0.value($1) }
            writer.key("program")
            MeasurementJSON.program(measurement.arms.first, &writer)
            writer.key("baseline")
            MeasurementJSON.program(measurement.arms.dropFirst().first, &writer)
            basis(&writer)
            writer.key("phase")
            writer.value(result.culprit?.name)
            writer.key("phases")
            writer.array(result.phases, inLines: true) { Self.part($1, &$0) }
            writer.key("process")
            writer.value(result.slowerProcess?.name)
            writer.key("processes")
            writer.array(result.processes, inLines: true) { Self.part($1, &$0) }
            writer.key("notes")
            writer.array(notes, inLines: true) { JSONReport.note($1, &$0) }
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func basis(_ writer: inout JSONWriter) {
        writer.key("allowed")
        writer.object { writer in
            writer.key("share")
            writer.decimal(result.rule.allowed.allowedShare, digits: 6)
            writer.field("ns", result.rule.allowed.allowedDifference)
        }
        writer.key("looks")
        writer.array(result.rule.looks) { $0.value($1) }
        switch result.basis {
        case .turns(let decision): turns(decision, &writer)
        case .advice(let advice): Self.advice(advice, names[1], &writer)
        }
    }

    private func turns(_ decision: GateDecision, _ writer: inout JSONWriter) {
        writer.field("basis", "turns")
        writer.field("doubt", Self.doubt(decision.decision))
        comparison("comparison", decision.seen, &writer)
        comparison("confirmation", decision.second, &writer)
    }

    private static func doubt(_ decision: ComparisonPlan.Decision) -> String? {
        guard case .inconclusive(let doubt) = decision else { return nil }
        return doubt.rawValue
    }

    private func comparison(_ name: String, _ found: Comparison?, _ writer: inout JSONWriter) {
        writer.key(name)
        guard let found else { return writer.value(String?.none) }
        MeasurementJSON.comparison(found, names, &writer)
    }

    private static func advice(
        _ advice: StoredAdvice, _ name: String, _ writer: inout JSONWriter
    ) {
        writer.field("basis", "stored")
        writer.key("stored")
        writer.object { writer in
            writer.field("name", name)
            writer.field("reason", advice.reason.rawValue)
            writer.key("mismatches")
            writer.array(advice.mismatches) { MismatchWords.write($1, &$0) }
            writer.key("difference")
            UnpairedJSON.write(advice.difference, &writer)
        }
    }

    private static func part(_ part: PartDifference, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("name", part.name)
            writer.field("pairs", part.pairs)
            let times: [(String, Double)] = [
                ("differenceNs", part.difference), ("differenceLowNs", part.low),
                ("differenceHighNs", part.high),
            ]
            for (name, time) in times {
                writer.key(name)
                writer.rounded(time)
            }
            writer.key("confidence")
            writer.decimal(part.confidence, digits: 6)
            writer.field("isLonger", part.isLonger)
        }
    }
}
