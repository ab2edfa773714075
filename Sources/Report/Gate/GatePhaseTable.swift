import Analysis

/// The phases of two programs side by side.
struct GatePhaseTable {
    let report: GateReport
    let options: TextOptions

    /// More than anybody reads.
    private static let mostPhases = 50

    func render() -> String {
        let titles = [report.names[0], report.names[1]].map { $0.shortened(to: 20) }
        var table = TextTable(
            columns: [
                TextTable.Column(title: "PHASE", alignment: .left, minimum: 12),
                TextTable.Column(title: titles[0]), TextTable.Column(title: titles[1]),
                TextTable.Column(title: "DIFFERENCE"), TextTable.Column(title: "BOUNDS"),
            ])
        let summary = MeasurementSummary(of: report.measurement)
        table.rows = report.result.phases.prefix(Self.mostPhases).map { phase in
            let medians = (0...1).map { median(of: phase.name, in: summary, arm: $0) }
            return [
                TextTable.Cell(phase.name.escapedForDisplay), TextTable.Cell(medians[0]),
                TextTable.Cell(medians[1]), TextTable.Cell(GateWords.difference(phase)),
                TextTable.Cell(GateWords.bounds(phase)),
            ]
        }
        return table.render(width: options.columns, colour: options.usesColour)
    }

    private func median(of phase: String, in summary: MeasurementSummary, arm: Int) -> String {
        guard summary.arms.indices ~= arm else { return Numbers.unknown }
        return Figure.phase(phase).distribution(in: summary.arms[arm])
            .map { Quantity.time.text($0.median) } ?? "none"
    }
}
