import Analysis
import Exports
import ProfileModel

/// One arm: its figures, all launches, the disturbances, and the launches that do not count.
struct ArmSection {
    let measurement: Measurement
    let arm: Int
    let summary: ArmSummary
    let name: String
    let scale: LaunchStrip.Scale
    let options: TextOptions

    /// The parts, to be separated by empty lines.
    var blocks: [String] {
        let launches = measurement.launches.filter { $0.arm == arm }
        var blocks = [heading + figures(launches)]
        if !summary.processes.isEmpty {
            blocks.append(StartedTable(processes: summary.processes, options: options).render())
        }
        let strip = LaunchStrip(launches: launches, scale: scale, options: options).render()
        if !strip.isEmpty { blocks.append(strip) }
        let remarks = remarks(launches)
        if !remarks.isEmpty {
            blocks.append(remarks.map { $0.wrapped(to: options.columns) }.joined())
        }
        return blocks + FailedLaunches(launches: launches, options: options).blocks
    }

    /// Only if there are two arms.
    private var heading: String {
        guard measurement.arms.count > 1 else { return "" }
        let text = (arm == 0 ? "" : "against ") + name
        let shown = text.shortened(to: options.columns - 2)
        return "  " + (options.usesColour ? Style.heading.applied(to: shown) : shown) + "\n"
    }

    private func figures(_ launches: [MeasuredLaunch]) -> String {
        guard summary.wall != nil else {
            return (launches.isEmpty ? "no launch was made" : "no launch counts")
                .wrapped(to: options.columns)
        }
        return MeasurementTable(summary: summary, options: options).render()
    }

    private func remarks(_ launches: [MeasuredLaunch]) -> [String] {
        let words = DisturbanceWords(measurement: measurement, arm: arm)
        return summary.disturbances.map(words.text)
            + [
                MeasurementFacts.measuring(launches).map { "measuring itself " + $0 },
                MeasurementFacts.unknown(launches),
            ].compactMap { $0 }
    }
}

/// The output of launches that failed.
struct FailedLaunches {
    let launches: [MeasuredLaunch]
    let options: TextOptions

    /// More are in JSON.
    private static let (mostLaunches, mostLines) = (3, 5)

    var blocks: [String] {
        let failed = launches.enumerated().filter { Self.failed.contains($0.element.discarded) }
        let shown = failed.prefix(Self.mostLaunches).map { text($0.element, number: $0.offset + 1) }
        let rest = failed.count - shown.count
        guard rest > 0 else { return shown }
        let words = "\(Numbers.launches(rest)) more failed: see --format json"
        return shown + [words.wrapped(to: options.columns)]
    }

    private static let failed: Set<MeasuredLaunch.Discard?> = [
        .failed, .otherStatus, .hung, .notReady,
    ]

    private func text(_ launch: MeasuredLaunch, number: Int) -> String {
        let reason = launch.discarded.map(DiscardWords.text) ?? ""
        let lines = launch.output.split(whereSeparator: \.isNewline).suffix(Self.mostLines)
        let title =
            "launch \(Numbers.grouped(number)), \(reason): " + OutcomeWords.text(launch.outcome)
        guard !lines.isEmpty else {
            return (title + "; it printed nothing").wrapped(to: options.columns)
        }
        return (title + "; what it printed last:").wrapped(to: options.columns)
            + lines.map {
                "    " + String($0).escapedForDisplay.shortened(to: options.columns - 4) + "\n"
            }.joined()
    }
}

/// The processes that an arm's launches started, by name.
struct StartedTable {
    let processes: [StartedProcesses]
    let options: TextOptions

    /// Few readers want more.
    private static let most = 12

    func render() -> String {
        let whole = table(withExtremes: true)
        let fits = whole.naturalWidth <= options.columns
        let text = (fits ? whole : table(withExtremes: false))
            .render(width: options.columns, colour: options.usesColour)
        let hidden = processes.count - Self.most
        guard hidden > 0 else { return text }
        let more = "\(Numbers.count(hidden, "more name")): see --format json"
        return text + more.wrapped(to: options.columns)
    }

    /// If there is no room for all, the medians matter most.
    private func table(withExtremes: Bool) -> TextTable {
        let extremes = withExtremes ? ["MIN", "MAX"] : []
        var table = TextTable(
            columns: [TextTable.Column(title: "STARTED", alignment: .left, minimum: 12)]
                + (["A LAUNCH", "WALL"] + extremes + ["CPU"]).map { TextTable.Column(title: $0) })
        table.rows = processes.prefix(Self.most).map { process in
            let wall = process.wall
            let times = [wall.median] + (withExtremes ? [wall.minimum, wall.maximum] : [])
            let cells =
                [process.name.escapedForDisplay, Quantity.count.text(process.count.median)]
                + times.map(Quantity.time.text)
                + [process.cpu.map { Quantity.time.text($0.median) } ?? Numbers.unknown]
            return cells.map { TextTable.Cell($0) }
        }
        return table
    }
}
