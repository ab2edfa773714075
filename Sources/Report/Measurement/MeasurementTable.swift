import Analysis
import ProfileModel

/// Every figure of an arm's launches: median, interval, 90th percentile, extremes.
struct MeasurementTable {
    let summary: ArmSummary
    let options: TextOptions

    /// More phases than anybody reads.
    private static let mostPhases = 200

    func render() -> String {
        let whole = table(middle + extremes)
        if width(of: whole, names: Self.usualName) <= options.columns { return text(whole) + more }
        // Too narrow for one table: two, one under the other.
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

    private struct Figure {
        var name: String
        var indent = ""
        var distribution: Distribution?
        var unit = Unit.time
        /// The median of the CPU time that belongs to it; nil: there is no such thing.
        var cpu: Distribution??
    }

    /// What a distribution's values are.
    private enum Unit {
        case time, count, bytes

        func text(_ value: Double) -> String {
            switch self {
            case .time: Numbers.measuredTime(value)
            case .count: Numbers.measuredCount(value)
            case .bytes: Numbers.measuredBytes(value)
            }
        }

        func text(_ interval: Distribution.Interval) -> String {
            self == .time
                ? Numbers.measuredTimes(interval.low, interval.high)
                : "\(text(interval.low)) – \(text(interval.high))"
        }
    }

    private var figures: [Figure] {
        [Figure(name: "Launch", distribution: summary.wall, cpu: .some(summary.cpu))]
            + summary.phases.prefix(Self.mostPhases).map {
                Figure(
                    name: $0.name.escapedForDisplay, indent: "  ", distribution: $0.wall,
                    cpu: .some($0.cpu))
            }
            + [
                Figure(name: "CPU", distribution: summary.cpu),
                Figure(name: "Main thread blocked", distribution: summary.mainBlocked),
                Figure(name: "Minor faults", distribution: summary.minorFaults, unit: .count),
                Figure(name: "Major faults", distribution: summary.majorFaults, unit: .count),
                Figure(name: "Read from disks", distribution: summary.readBytes, unit: .bytes),
            ]
    }

    private struct Column {
        var title: String
        var cell: (Figure) -> String
    }

    private var middle: [Column] {
        [
            Column(title: "MEDIAN") { figure in
                figure.distribution.map { figure.unit.text($0.median) } ?? Numbers.unknown
            },
            Column(title: "95 % INTERVAL") { figure in
                figure.distribution.map { interval($0, figure.unit) } ?? ""
            },
        ]
    }

    private var extremes: [Column] {
        let percentile = Column(title: "90TH") { figure in
            figure.distribution.map { $0.percentile90.map(figure.unit.text) ?? "too few" } ?? ""
        }
        let hasPercentile = figures.contains { $0.distribution?.percentile90 != nil }
        return (hasPercentile ? [percentile] : []) + [
            Column(title: "MIN") { figure in
                figure.distribution.map { figure.unit.text($0.minimum) } ?? ""
            },
            Column(title: "MAX") { figure in
                figure.distribution.map { figure.unit.text($0.maximum) } ?? ""
            },
            Column(title: "N") { $0.distribution.map { Numbers.grouped($0.count) } ?? "" },
            Column(title: "CPU") { figure in
                guard let cpu = figure.cpu else { return "" }
                return cpu.map { Numbers.measuredTime($0.median) } ?? Numbers.unknown
            },
        ]
    }

    private func table(_ columns: [Column]) -> TextTable {
        var table = TextTable(
            columns: [TextTable.Column(title: "", alignment: .left, minimum: Self.leastName)]
                + columns.map { TextTable.Column(title: $0.title) })
        table.rows = figures.map { figure in
            var name = TextTable.Cell(figure.name)
            name.prefix = figure.indent
            return [name] + columns.map { TextTable.Cell($0.cell(figure)) }
        }
        // Figures are cut only where they are absurd.
        if width(of: table, names: Self.leastName) > options.columns {
            for column in 1..<table.columns.count { table.columns[column].minimum = 6 }
        }
        return table
    }

    /// What names may be cut to: where that helps, and at most.
    private static let (usualName, leastName) = (24, 12)

    /// What a table takes whose names have so many columns.
    private func width(of table: TextTable, names: Int) -> Int {
        let widest = table.rows.map { $0[0].width }.max() ?? 0
        return table.naturalWidth - max(widest - names, 0)
    }

    /// "370.1 – 375.2 ms"; with what it really keeps where that is less than its title says.
    private func interval(_ distribution: Distribution, _ unit: Unit) -> String {
        guard let interval = distribution.interval else { return "too few" }
        let weaker = interval.confidence < 0.95 ? " (\(Numbers.share(interval.confidence)))" : ""
        return unit.text(interval) + weaker
    }
}
