import Analysis
import Exports
import ProfileModel

/// Every figure of an arm's launches: median, interval, 90th percentile, extremes.
struct MeasurementTable {
    let summary: ArmSummary
    let options: TextOptions

    /// A longer table would not be read.
    private static let mostPhases = 200

    func render() -> String {
        let whole = table(middle + extremes)
        if width(of: whole, names: Self.usualName) <= options.columns { return text(whole) + more }
        // If one table is too wide: two, one below the other.
        return text(table(middle)) + "\n" + text(table(extremes)) + more
    }

    private func text(_ table: TextTable) -> String {
        table.render(width: options.columns, colour: options.usesColour)
    }

    private var more: String {
        let hidden = summary.phases.count - Self.mostPhases
        guard hidden > 0 else { return "" }
        return (Numbers.count(hidden, "more phase") + ": see --format json")
            .wrapped(to: options.columns)
    }

    private var figures: [Figure] {
        [.wall] + summary.phases.prefix(Self.mostPhases).map { .phase($0.name) }
            + [.cpu, .mainBlocked, .minorFaults, .majorFaults, .readBytes]
    }

    private struct Column {
        var title: String
        var cell: (Figure) -> String
    }

    private var middle: [Column] {
        [
            column("MEDIAN", unknown: Numbers.unknown) { $1.text($0.median) },
            column("95 % INTERVAL", Self.interval),
        ]
    }

    private var extremes: [Column] {
        let percentile = column("90TH") { $0.percentile90.map($1.text) ?? "too few" }
        let hasPercentile = figures.contains { $0.distribution(in: summary)?.percentile90 != nil }
        return (hasPercentile ? [percentile] : []) + [
            column("MIN") { $1.text($0.minimum) }, column("MAX") { $1.text($0.maximum) },
            column("N") { distribution, _ in Numbers.grouped(distribution.count) },
            Column(title: "CPU", cell: cpu),
        ]
    }

    private func column(
        _ title: String, unknown: String = "", _ text: @escaping (Distribution, Quantity) -> String
    ) -> Column {
        Column(title: title) { figure in
            figure.distribution(in: summary).map { text($0, figure.quantity) } ?? unknown
        }
    }

    /// The median of the CPU time that belongs to a wall time.
    private func cpu(_ figure: Figure) -> String {
        guard let cpu = figure.cpu else { return "" }
        return cpu.distribution(in: summary).map { Quantity.time.text($0.median) }
            ?? Numbers.unknown
    }

    private func table(_ columns: [Column]) -> TextTable {
        var table = TextTable(
            columns: [TextTable.Column(title: "", alignment: .left, minimum: Self.leastName)]
                + columns.map { TextTable.Column(title: $0.title) })
        table.rows = figures.map { figure in
            var name = TextTable.Cell(figure.title.escapedForDisplay)
            if case .phase = figure { name.prefix = "  " }
            return [name] + columns.map { TextTable.Cell($0.cell(figure)) }
        }
        // Figures are cut only if they are absurdly long.
        if width(of: table, names: Self.leastName) > options.columns {
            for column in 1..<table.columns.count { table.columns[column].minimum = 6 }
        }
        return table
    }

    /// How short names are cut if that helps, and how short at most.
    private static let (usualName, leastName) = (24, 12)

    /// The width of a table if names have that many columns.
    private func width(of table: TextTable, names: Int) -> Int {
        let widest = table.rows.map { $0[0].width }.max() ?? 0
        return table.naturalWidth - max(widest - names, 0)
    }

    /// "370.1 to 375.2 ms"; with its actual confidence if that is less than the title says.
    private static func interval(_ distribution: Distribution, _ quantity: Quantity) -> String {
        guard let interval = distribution.interval else { return "too few" }
        let weaker =
            interval.confidence < 0.95 ? " (only \(Numbers.confidence(interval.confidence)))" : ""
        return quantity.range(interval.low, interval.high) + weaker
    }
}
