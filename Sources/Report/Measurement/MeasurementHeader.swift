import Analysis
import Exports
import ProfileModel

/// The beginning of a measurement: the answer in one line, and the circumstances that it depends
/// on.
struct MeasurementHeader {
    let measurement: Measurement
    let summary: MeasurementSummary
    let names: ArmNames
    let options: TextOptions

    func render() -> String {
        figures.wrappedParts(to: options.columns)
            + notes.map {
                // Enough even for a command line of 100 KB.
                $0.shortened(to: 3 * options.columns).wrapped(to: options.columns)
            }.joined()
    }

    private var figures: [String] {
        [
            title, launches, MeasurementFacts.cache(measurement.conditions.cache),
            MeasurementFacts.until(measurement.conditions),
        ]
    }

    private var title: String {
        guard names.count > 1 else {
            let wall = summary.arms.first.flatMap(\.wall)
            let duration = wall.map { "launched in \(Quantity.time.text($0.median))" }
            return [names[0], duration].compactMap { $0 }.joined(separator: " · ")
        }
        return names.title
    }

    /// "median of 20 launches", "median of 7 of 20 launches", "20 and 19 of 20 launches each"
    private var launches: String {
        let counts = summary.arms.map(\.launches)
        let requested = measurement.header.requested
        let isWhole = counts.allSatisfy { $0 == requested }
        let found = counts.map { Numbers.grouped($0) }.joined(separator: " and ")
        let text = (isWhole ? "" : "\(found) of ") + Numbers.launches(requested)
        guard names.count == 1 else { return text + " each" }
        return (counts.first ?? 0 > 0 ? "median of " : "") + text
    }

    // MARK: Notes

    private var notes: [String] {
        let ending = MeasurementFacts.ending(measurement.header.ending)
        return commands + [ending, limits, machine, made].compactMap { $0 }
    }

    private var commands: [String] {
        measurement.arms.enumerated().map { ($0 == 0 ? "" : "against ") + $1.commandAndPath }
    }

    private var limits: String? {
        let limits = MeasurementFacts.limits(measurement.conditions)
        return limits.isEmpty ? nil : limits.joined(separator: ", ")
    }

    private var machine: String {
        "on " + MeasurementFacts.machine(measurement.machine).joined(separator: ", ")
    }

    private var made: String {
        let header = measurement.header
        let parts = [
            header.versionName.map { "version \($0)" },
            MeasurementFacts.date(header),
            "firstlight \(header.recorderVersion)",
        ]
        return parts.compactMap { $0 }.joined(separator: ", ").escapedForDisplay
    }
}
