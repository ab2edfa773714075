package import Analysis
import Exports
import ProfileModel

/// Two recordings compared, as text for a terminal. Pure: the same comparison and options give the
/// same bytes.
package enum ComparisonReport {
    /// The report, its last line ended by a line break.
    ///
    /// - Parameters:
    ///   - phases: positions in the comparison's list; nil: all.
    ///   - options: only width, colour and depth (how many lines a list has at most) count.
    package static func text(
        _ comparison: ProfileComparison, phases: Set<Int>? = nil,
        options: TextOptions = TextOptions()
    ) -> String {
        let chosen = comparison.phases.indices.filter { phases?.contains($0) ?? true }
            .map { comparison.phases[$0] }
        var blocks = [
            ComparisonHeader(comparison: comparison, options: options).render(),
            ComparedPhaseTable(
                options: options, phases: chosen, total: phases == nil ? comparison.total : nil
            ).render(),
        ]
        for phase in chosen {
            blocks += PhaseChanges(comparison: comparison, phase: phase, options: options).tables()
        }
        let names = phases.map { _ in Set(chosen.map(\.name)) }
        blocks += ComparedFacts(comparison: comparison, phases: names, options: options).tables()
        blocks +=
            ComparedFindingsView(comparison: comparison, phases: names, options: options)
            .blocks
        blocks.append(ComparisonNotes(comparison: comparison).render(width: options.columns))
        return blocks.joined(separator: "\n")
    }

    /// A differential flame graph, as a complete SVG file.
    ///
    /// - Parameter phases: positions in the comparison's list; nil: all.
    package static func svg(
        _ comparison: ProfileComparison, phases: Set<Int>? = nil
    ) -> String {
        ComparisonFlames(comparison, phases: phases).render()
    }
}

extension Numbers {
    /// A change in a table: "+1.2 ms", "-0.38 s", "–" for none.
    static func change(_ span: TimeSpan) -> String {
        guard span != .zero else { return "–" }
        // A change that rounds to nothing has no sign.
        return (span.nanoseconds >= 500 ? "+" : "") + time(span)
    }

    /// "-87.5 %"; nil: there was nothing before.
    static func changeInPercent(_ wall: Compared<TimeSpan>) -> String? {
        guard wall.before > .zero else { return nil }
        let change = wall.difference
        let sign = change < .zero ? "-" : change > .zero ? "+" : ""
        return sign + percent(change.magnitude, of: wall.before.magnitude)
    }
}

extension TextTable.Cell {
    /// A change, in the colour of its direction.
    static func change(_ span: TimeSpan) -> TextTable.Cell {
        TextTable.Cell(
            Numbers.change(span),
            style: span == .zero ? .plain : span < .zero ? .faster : .slower)
    }
}

extension Compared<TimeSpan> {
    /// Before, after, and the difference.
    var cells: [TextTable.Cell] {
        [.init(Numbers.cell(before)), .init(Numbers.cell(after)), .change(difference)]
    }

    static let titles = ["BEFORE", "AFTER", "DIFFERENCE"]
}

/// The phases of two launches side by side: wall, CPU, and how long the main thread was blocked.
struct ComparedPhaseTable {
    let options: TextOptions
    let phases: [ComparedPhase]
    /// The last line; nil: none.
    let total: Row?

    struct Row {
        var name: String
        var wall: Compared<TimeSpan>
        var cpu: Compared<TimeSpan>
        var blocked: Compared<TimeSpan>
    }

    func render() -> String {
        // If one table is too wide, two or three, one below the other.
        let layouts = [[[wall, cpu, blocked]], [[wall, cpu], [blocked]]].map { $0.map(table) }
        let fitting = layouts.first { tables in
            tables.allSatisfy { $0.naturalWidth <= options.columns }
        }
        return (fitting ?? [[wall], [cpu], [blocked]].map(table)).map(text).joined(separator: "\n")
    }

    private typealias Group = (title: String, figures: (Row) -> Compared<TimeSpan>)
    private var wall: Group { ("wall", \.wall) }
    private var cpu: Group { ("CPU", \.cpu) }
    private var blocked: Group { ("main blocked", \.blocked) }

    private func text(_ table: TextTable) -> String {
        table.render(width: options.columns, colour: options.usesColour)
    }

    private func table(_ groups: [Group]) -> TextTable {
        var columns = [TextTable.Column(title: "PHASE", alignment: .left, minimum: 12)]
        for group in groups {
            columns += ["\(group.title): before", "after", "difference"].map { .init(title: $0) }
        }
        var table = TextTable(columns: columns)
        table.rows = rows.map { row in
            [TextTable.Cell(row.name.escapedForDisplay)]
                + groups.flatMap { $0.figures(row).cells }
        }
        return table
    }

    private var rows: [Row] { phases.map(\.row) + [total].compactMap { $0 } }
}

extension ComparedPhase {
    fileprivate var row: ComparedPhaseTable.Row {
        .init(name: name, wall: wall, cpu: cpu, blocked: blocked)
    }
}

extension ProfileComparison {
    var total: ComparedPhaseTable.Row {
        .init(name: "Launch", wall: wall, cpu: cpu, blocked: blocked)
    }
}
