import Analysis
import Exports
import ProfileModel

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
