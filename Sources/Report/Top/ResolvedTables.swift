import Analysis
import Exports
import ProfileModel

/// The state of resolved things: those that are back come first.
struct ResolvedTables {
    let program: TopProgram
    let options: TextOptions

    private static let most = 20

    func tables() -> [String] {
        let isBack = program.resolved.filter { $0.status == .back }
        let others = program.resolved.filter { $0.status != .back }
        return [
            table(isBack, "Back again in newer launches"),
            table(others, "Resolved"),
        ].compactMap { $0 }
    }

    /// nil: there are none.
    private func table(_ states: [ResolvedState], _ caption: String) -> String? {
        guard !states.isEmpty else { return nil }
        var table = TextTable(columns: [
            .init(title: "", alignment: .left, minimum: 18),
            .init(title: "", alignment: .left, minimum: 8, spareRank: 3),
            .init(title: "BEFORE"), .init(title: "SINCE THEN"), .init(title: "SEEN IN"),
            .init(title: "RESOLVED", alignment: .left, spareRank: 2),
            .init(title: "", alignment: .left, spareRank: 1),
        ])
        table.caption = caption
        table.fill = StackTableView.comfortable
        table.rows = states.prefix(options.depth ?? Self.most).map(row)
        let more = states.count - table.rows.count
        return table.render(width: options.columns, colour: options.usesColour)
            + (more > 0 ? "  … \(Numbers.grouped(more)) more\n" : "")
    }

    private func row(_ state: ResolvedState) -> [TextTable.Cell] {
        let thing = state.entry.thing
        var name = TextTable.Cell(thing.name.escapedForDisplay)
        name.prefix = "  "
        name.isFunction = !thing.kind.isNamedAlone
        let what = thing.reason.map { "\(thing.kind.words): \($0.rawValue)" } ?? thing.kind.words
        let newer = state.newer
        return [
            name, .init(what, style: .dim),
            // If there are no older launches, nothing is known of the time before.
            state.older.total.cell, newer.total.cell,
            .init(
                newer.launches == 0
                    ? "none newer"
                    : "\(Numbers.grouped(newer.seen)) of \(Numbers.grouped(newer.launches))"),
            .init(
                CalendarDate(secondsSince1970: state.entry.since)?.text ?? "?", style: .dim),
            .init(state.status.words, style: .dim),
        ]
    }
}

extension TopKind {
    var words: String { self == .initializer ? "initialiser" : rawValue }
}

extension ResolvedState.Status {
    var words: String {
        switch self {
        case .back: "back"
        case .small: "hardly any time"
        case .gone: "gone"
        case .untested: "not known yet"
        }
    }
}
