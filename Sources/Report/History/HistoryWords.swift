import Analysis
import Exports
import ProfileModel

/// Texts about a series that all reports share. Texts from the user and the machine are escaped.
struct HistoryWords {
    let history: LaunchHistory
    let series: HistorySeries

    /// "app": the program's name.
    var name: String { ArmNames(Array(series.circumstances.arms.prefix(1)))[0] }

    /// In the form that a shell accepts.
    var command: String { series.circumstances.arms.first?.commandAndPath ?? "" }

    /// "24 versions", "31 measurements", "warm", "until window".
    var facts: [String] {
        let conditions = series.circumstances.conditions
        return [
            Numbers.count(series.points.count, history.grouping.rawValue),
            Numbers.count(series.sessions, "measurement"),
            MeasurementFacts.cache(conditions.cache), MeasurementFacts.until(conditions),
        ] + MeasurementFacts.limits(conditions)
    }

    var machine: String {
        var machine = series.circumstances.machine
        guard series.machines > 1 else {
            return MeasurementFacts.machine(machine).joined(separator: ", ")
        }
        machine.host = "\(Numbers.count(series.machines, "machine")) like \(machine.host)"
        return MeasurementFacts.machine(machine).joined(separator: ", ")
    }

    // MARK: Points

    static func label(_ point: HistoryPoint) -> String {
        switch point.label {
        case .version(let name):
            name.isEmpty ? "(empty)" : name.escapedForDisplay.shortened(to: longestVersion)
        case .unnamed(let date): "unnamed " + day(date)
        case .day(let day): Self.day(day * nanosecondsOfDay)
        }
    }

    /// "2026-11-23"
    static func day(_ date: Int64) -> String {
        CalendarDate(nanosecondsSince1970: date)?.date ?? Numbers.unknown
    }

    /// "370.1 to 375.2 ms"; with its actual confidence if that is less than 95 %.
    static func interval(_ figure: HistoryFigure?) -> String {
        guard let interval = figure?.interval else { return "too few" }
        let weaker =
            interval.confidence < 0.95 ? " (only \(Numbers.confidence(interval.confidence)))" : ""
        return Quantity.time.range(interval.low, interval.high) + weaker
    }

    static func value(_ figure: HistoryFigure?) -> String {
        figure.map { Quantity.time.text($0.value) } ?? "too few"
    }

    // MARK: Changes

    /// "+12.3 % between 1.4.1 and 1.4.2: 370.1 ms before, 415.6 ms after; the largest part in Main,
    /// +40.20 ms"
    func change(_ change: HistoryChange) -> String {
        let step = change.step
        let times =
            "\(Quantity.time.text(step.before)) before, \(Quantity.time.text(step.after)) after"
        let phase = change.phase.map {
            "; the largest part in \($0.name.escapedForDisplay), "
                + Quantity.time.signed($0.difference)
        }
        return "\(Numbers.change(step.change)) \(place(change)): \(times)\(phase ?? "")"
    }

    /// "between 1.4.1 and 1.4.2"
    func place(_ change: HistoryChange) -> String {
        let points = series.points
        guard change.point > 0, points.indices ~= change.point else { return "" }
        return "between \(Self.label(points[change.point - 1])) and "
            + Self.label(points[change.point])
    }

    /// The text if there is no change.
    var noChange: String {
        let least = history.rule.least
        guard series.points.count >= least else {
            return "changes can be detected from \(least) \(history.grouping.rawValue)s on"
        }
        return "no change of \(Numbers.share(history.rule.magnitude)) or more"
    }

    // MARK: Goal

    /// nil: there is none.
    var goal: String? {
        guard let goal = history.goal, let last = series.points.last else { return nil }
        let most = Double(goal.nanoseconds)
        let missed = last.median.value > most
        let difference = Quantity.time.signed(last.median.value - most)
        let met = series.points.count { $0.median.value <= most }
        return "goal \(Quantity.time.text(most)): \(missed ? "missed" : "met") by "
            + "\(Self.label(last)), the latest (median \(difference)); \(Numbers.grouped(met)) of "
            + "\(Numbers.count(series.points.count, history.grouping.rawValue)) "
            + (met == 1 ? "meets it" : "meet it")
    }

    private static let longestVersion = 40
    private static let nanosecondsOfDay: Int64 = 86_400_000_000_000
}
