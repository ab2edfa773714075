import Analysis
import Exports

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
