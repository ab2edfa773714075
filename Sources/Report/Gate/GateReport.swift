package import Analysis
import Exports
package import ProfileModel

/// A gate's answer for people and for programs. Pure: the same values give the same bytes.
package struct GateReport: Sendable {
    package let result: GateResult
    package let measurement: Measurement
    let names: ArmNames

    /// - Parameter baseline: the name of a stored baseline; nil: the baseline is the measurement's
    ///   second program.
    package init(_ result: GateResult, _ measurement: Measurement, baseline: String? = nil) {
        self.result = result
        self.measurement = measurement
        names =
            baseline.map { ArmNames(measurement.arms, against: $0) } ?? ArmNames(measurement.arms)
    }

    var words: GateWords { GateWords(result: result, names: names) }

    /// The answer in one line.
    package var verdict: String { words.verdict }

    /// The grounds of the answer, one sentence each.
    package var grounds: [String] { words.grounds }

    /// For a terminal; among the options only width and colours count. Ends in a line break.
    package func text(options: TextOptions = TextOptions()) -> String {
        let verdict = words.verdict.wrapped(to: options.columns, after: "", indent: 2)
        var blocks = [
            (options.usesColour ? verdict.emphasised : verdict)
                + words.grounds.map { $0.wrapped(to: options.columns, after: " ") }.joined()
        ]
        if !result.phases.isEmpty {
            blocks.append(GatePhaseTable(report: self, options: options).render())
        }
        let notes = notes.map { $0.text.wrapped(to: options.columns, after: " ") }
        if !notes.isEmpty { blocks.append(notes.joined()) }
        return blocks.joined(separator: "\n")
    }

    /// The disturbances.
    var notes: [(kind: String, text: String)] {
        MeasurementSummary(of: measurement).arms.enumerated().flatMap { arm, figures in
            let words = DisturbanceWords(measurement: measurement, arm: arm)
            let prefix = measurement.arms.count > 1 ? "\(names[arm]): " : ""
            return figures.disturbances.map {
                (DisturbanceWords.kind($0), prefix + words.text($0))
            }
        }
    }
}

/// The phases of two programs side by side, and the processes that they start.
struct GatePhaseTable {
    let report: GateReport
    let options: TextOptions

    /// A longer table would not be read.
    private static let mostPhases = 50
    /// The most expensive ones; JSON has all.
    private static let mostProcesses = 12

    /// If there is no room for both, the differences are more important than the two values.
    func render() -> String {
        let whole = render(arms: 0..<2, colour: false)
        let fits = whole.split(separator: "\n").allSatisfy {
            String($0).displayWidth <= options.columns
        }
        return render(arms: fits ? 0..<2 : 0..<0, colour: options.usesColour)
    }

    private func render(arms: Range<Int>, colour: Bool) -> String {
        let names = arms.map { TextTable.Column(title: report.names[$0].shortened(to: 20)) }
        var table = TextTable(
            columns: [TextTable.Column(title: "PHASE", alignment: .left, minimum: 12)] + names + [
                TextTable.Column(title: "DIFFERENCE"), TextTable.Column(title: "BOUNDS"),
            ])
        let summary = MeasurementSummary(of: report.measurement)
        table.rows = report.result.phases.prefix(Self.mostPhases).map { phase in
            let medians = arms.map { median(of: phase.name, in: summary, arm: $0) }
            let words = medians + [GateWords.difference(phase), GateWords.bounds(phase)]
            return [TextTable.Cell(phase.name.escapedForDisplay)] + words.map { TextTable.Cell($0) }
        }
        table.rows += report.result.processes.prefix(Self.mostProcesses).map { process in
            let medians = arms.map { arm in
                summary.arms[arm].processes.first { $0.name == process.name }
                    .map { Quantity.time.text($0.wall.median) } ?? "none"
            }
            return ["started: " + process.name.escapedForDisplay] + medians
                + [GateWords.difference(process), GateWords.bounds(process)]
        }.map { $0.map { TextTable.Cell($0) } }
        return table.render(width: options.columns, colour: colour)
    }

    private func median(of phase: String, in summary: MeasurementSummary, arm: Int) -> String {
        guard summary.arms.indices ~= arm else { return Numbers.unknown }
        return Figure.phase(phase).distribution(in: summary.arms[arm])
            .map { Quantity.time.text($0.median) } ?? "none"
    }
}
