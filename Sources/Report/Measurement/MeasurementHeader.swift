import Analysis
import ProfileModel

/// What a measurement begins with: the answer in a line, and what it is only good for.
struct MeasurementHeader {
    let measurement: Measurement
    let summary: MeasurementSummary
    let names: ArmNames
    let options: TextOptions

    func render() -> String {
        figures.wrappedParts(to: options.columns)
            + notes.map {
                // Of a command line of 100 KB, this is enough.
                $0.shortened(to: 3 * options.columns).wrapped(to: options.columns)
            }.joined()
    }

    private var figures: [String] {
        [title, launches, cache, until].compactMap { $0 }
    }

    private var title: String {
        guard names.count > 1 else {
            let wall = summary.arms.first.flatMap(\.wall)
            let duration = wall.map { "launched in \(Numbers.measuredTime($0.median))" }
            return [names[0], duration].compactMap { $0 }.joined(separator: " · ")
        }
        return "\(names[0]) against \(names[1])"
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

    private var cache: String {
        switch measurement.conditions.cache {
        case .warm: "warm"
        case .cold: "cold"
        case .coldAll: "cold (all caches dropped)"
        }
    }

    private var until: String? {
        let conditions = measurement.conditions.until
        guard !conditions.isEmpty else { return nil }
        return "until " + conditions.map(\.escapedForDisplay).joined(separator: " or ")
    }

    // MARK: Notes

    private var notes: [String] {
        commands + [Self.words(measurement.header.ending), limits, machine, made].compactMap { $0 }
    }

    private var commands: [String] {
        measurement.arms.enumerated().map { index, arm in
            let path = arm.command.first == arm.path ? "" : " (\(arm.path))"
            return ((index == 0 ? "" : "against ") + arm.commandLine + path).escapedForDisplay
        }
    }

    /// nil where there are as many launches as were asked for.
    static func words(_ ending: Measurement.Ending) -> String? {
        switch ending {
        case .complete: nil
        case .interrupted: "interrupted: this is what had been measured until then"
        case .gaveUp: "given up: the launches that were asked for could not be had"
        case .unknown: "measuring was cut short: this is what had been measured until then"
        }
    }

    /// What was made slower on purpose.
    private var limits: String? {
        let limits = [
            measurement.conditions.network.map { "network \($0.escapedForDisplay)" },
            measurement.conditions.diskRate.map { "disk at most \(Numbers.bytes($0))/s" },
        ].compactMap { $0 }
        return limits.isEmpty ? nil : limits.joined(separator: ", ")
    }

    private var machine: String {
        let machine = measurement.machine
        let parts = [
            machine.host, "Linux \(machine.kernel) \(machine.architecture)", machine.processor,
            Numbers.count(machine.cores, "core"), Numbers.bytes(machine.memory),
            machine.governor.map { "governor \($0)" } ?? "",
        ]
        return "on " + parts.filter { !$0.isEmpty }.joined(separator: ", ").escapedForDisplay
    }

    private var made: String {
        let header = measurement.header
        let parts = [
            header.versionName.map { "version \($0)" },
            CalendarDate(nanosecondsSince1970: header.date)?.text,
            "firstlight \(header.recorderVersion)",
        ]
        return parts.compactMap { $0 }.joined(separator: ", ").escapedForDisplay
    }
}
