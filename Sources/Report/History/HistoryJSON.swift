import Analysis
import Exports
import ProfileModel

/// A history as JSON, complete. `docs/json.md` describes every field.
struct HistoryJSON {
    let history: LaunchHistory

    func render() -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.history.version)
            writer.field("kind", "history")
            writer.field("by", history.grouping.rawValue)
            writer.field("goalNs", history.goal)
            writer.key("rule")
            rule(&writer)
            writer.breakLine()
            writer.key("series")
            writer.array(history.series, inLines: true) { series($1, &$0) }
            writer.breakLine()
            writer.key("leftOut")
            writer.array(history.leftOut, inLines: true) { writer, left in
                writer.object {
                    $0.field("file", left.file)
                    $0.field("reason", left.reason)
                }
            }
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func rule(_ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("window", history.rule.window)
            writer.key("significance")
            writer.decimal(history.rule.significance, digits: 6)
            writer.key("magnitude")
            writer.decimal(history.rule.magnitude, digits: 6)
            writer.field("leastSegment", history.rule.leastSegment)
        }
    }

    private func series(_ series: HistorySeries, _ writer: inout JSONWriter) {
        let words = HistoryWords(history: history, series: series)
        writer.object { writer in
            writer.key("program")
            MeasurementJSON.program(series.circumstances.arms.first, &writer)
            writer.key("machine")
            MeasurementJSON.machine(series.circumstances.machine, &writer)
            writer.field("machines", series.machines)
            writer.key("conditions")
            MeasurementJSON.conditions(series.circumstances.conditions, &writer)
            writer.key("changes")
            writer.array(series.changes, inLines: true) { writer, change in
                Self.change(change, words, &writer)
            }
            writer.key("points")
            writer.array(series.points, inLines: true) { point($1, &$0) }
        }
    }

    private static func change(
        _ change: HistoryChange, _ words: HistoryWords, _ writer: inout JSONWriter
    ) {
        let points = words.series.points
        writer.object { writer in
            writer.field("index", change.point)
            writer.field(
                "from", points.indices ~= change.point - 1 ? name(points[change.point - 1]) : nil)
            writer.field("to", points.indices ~= change.point ? name(points[change.point]) : nil)
            writer.key("change")
            writer.decimal(change.step.change, digits: 6)
            writer.key("beforeNs")
            writer.rounded(change.step.before)
            writer.key("afterNs")
            writer.rounded(change.step.after)
            writer.key("probability")
            writer.decimal(change.step.probability, digits: 9)
            writer.field("phase", change.phase?.name)
            writer.key("phaseDifferenceNs")
            writer.rounded(change.phase?.difference)
            writer.field("text", words.change(change))
        }
    }

    /// A version as the user named it, or a day as a date; nil: there is no name.
    private static func name(_ point: HistoryPoint) -> String? {
        switch point.label {
        case .version(let name): name
        case .unnamed: nil
        case .day: HistoryWords.label(point)
        }
    }

    private func point(_ point: HistoryPoint, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field(history.grouping.rawValue, Self.name(point))
            writer.field("firstDateNs", point.firstDate)
            writer.field("lastDateNs", point.lastDate)
            writer.field("launches", point.launches)
            Self.figure("median", point.median, &writer)
            Self.figure("p90", point.percentile90, &writer)
            writer.key("meetsGoal")
            if let goal = history.goal {
                writer.value(point.median.value <= Double(goal.nanoseconds))
            } else {
                writer.value(String?.none)
            }
            writer.key("phases")
            writer.array(point.phases) { writer, phase in
                writer.object {
                    $0.field("name", phase.name)
                    $0.key("medianNs")
                    $0.rounded(phase.median)
                }
            }
            writer.key("sessions")
            writer.array(point.sessions) { Self.session($1, &$0) }
        }
    }

    private static func figure(
        _ name: String, _ figure: HistoryFigure?, _ writer: inout JSONWriter
    ) {
        let values: [(String, Double?)] = [
            ("Ns", figure?.value), ("LowNs", figure?.interval?.low),
            ("HighNs", figure?.interval?.high),
        ]
        for (suffix, value) in values {
            writer.key(name + suffix)
            writer.rounded(value)
        }
        writer.key(name + "Confidence")
        writer.decimal(figure?.interval?.confidence, digits: 6)
    }

    private static func session(_ session: HistorySession, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("file", session.file)
            writer.field("version", session.version)
            writer.field("date", CalendarDate(nanosecondsSince1970: session.date)?.internetText)
            writer.field("dateNs", session.date)
            writer.field("ending", session.ending.rawValue)
            writer.field("launches", session.launches)
            writer.key("medianNs")
            writer.rounded(session.median)
        }
    }
}
