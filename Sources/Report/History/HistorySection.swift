import Analysis
import Exports
import ProfileModel

/// One series as text: its subject, its changes, a line of bars, a table.
struct HistorySection {
    let history: LaunchHistory
    let series: HistorySeries
    let options: TextOptions

    private var words: HistoryWords { HistoryWords(history: history, series: series) }

    func render() -> String {
        let notes = [words.command, "on " + words.machine].map {
            $0.shortened(to: 3 * options.columns).wrapped(to: options.columns)
        }
        return ([words.name] + words.facts).wrappedParts(to: options.columns) + notes.joined()
            + "\n" + changes + goal + "\n" + strip + "\n" + table
    }

    // MARK: Changes

    private var changes: String {
        guard !series.changes.isEmpty else { return words.noChange.wrapped(to: options.columns) }
        return series.changes.map { change in
            let text = words.change(change).wrapped(to: options.columns, after: " ", indent: 4)
            let style: Style = change.step.change > 0 ? .slower : .faster
            return options.usesColour ? text.styledLines(style) : text
        }.joined()
    }

    private var goal: String { words.goal?.wrapped(to: options.columns) ?? "" }

    private var strip: String {
        let sparkline = Sparkline(series: series, options: options)
        let mark = series.changes.isEmpty ? "" : "; \(Sparkline.change) a change"
        let caption =
            "median of the launch for each \(history.grouping.rawValue), \(sparkline.scale)\(mark)"
        return caption.wrapped(to: options.columns) + sparkline.render()
    }

    // MARK: Table

    /// A reader does not scroll back further.
    private static let mostRows = 60
    private static let mostPhases = 5

    private var table: String {
        let hidden = max(0, series.points.count - Self.mostRows)
        var table = TextTable(columns: columns)
        let changes = Dictionary(series.changes.map { ($0.point, $0) }) { one, _ in one }
        table.rows = series.points.indices.dropFirst(hidden).map { row($0, changes[$0]) }
        let earlier =
            hidden > 0
            ? (Numbers.count(hidden, "earlier \(history.grouping.rawValue)")
                + ": see --format json or html").wrapped(to: options.columns) : ""
        return table.render(width: options.columns, colour: options.usesColour) + earlier
    }

    private var columns: [TextTable.Column] {
        var columns = [
            TextTable.Column(
                title: history.grouping.rawValue.uppercasedASCII, alignment: .left, minimum: 12),
            TextTable.Column(title: "MEDIAN"), TextTable.Column(title: "95 % INTERVAL"),
            TextTable.Column(title: "90TH", spareRank: 0),
            TextTable.Column(title: "95 % INTERVAL", spareRank: 4 + Self.mostPhases),
            TextTable.Column(title: "N", spareRank: 1),
        ]
        if history.grouping == .version {
            columns.insert(
                TextTable.Column(title: "SINCE", alignment: .left, spareRank: 3), at: 1)
        }
        return columns
            + phases.map { phase in
                TextTable.Column(
                    title: phase.name.escapedForDisplay.shortened(to: 16),
                    spareRank: 4 + phase.rank)
            }
    }

    /// The largest phases of the latest point, in the order of time; the largest has rank 0.
    private var phases: [(name: String, rank: Int)] {
        let latest = series.points.last?.phases ?? []
        let order = latest.sorted { $0.median > $1.median }.prefix(Self.mostPhases).map(\.name)
        return latest.compactMap { phase in
            order.firstIndex(of: phase.name).map { (phase.name, $0) }
        }
    }

    private func row(_ index: Int, _ change: HistoryChange?) -> [TextTable.Cell] {
        let point = series.points[index]
        var name = TextTable.Cell(HistoryWords.label(point))
        name.prefix = change.map { $0.step.change > 0 ? "▲ " : "▼ " } ?? "  "
        name.style = change.map { $0.step.change > 0 ? .slower : .faster } ?? .plain
        let since =
            history.grouping == .version
            ? [TextTable.Cell(HistoryWords.day(point.firstDate))] : []
        let figures = [
            HistoryWords.value(point.median), HistoryWords.interval(point.median),
            HistoryWords.value(point.percentile90), HistoryWords.interval(point.percentile90),
            Numbers.grouped(point.launches),
        ]
        let walls = phases.map { phase in
            point.phases.first { $0.name == phase.name }.map { Quantity.time.text($0.median) }
                ?? "–"
        }
        return [name] + since + (figures + walls).map { TextTable.Cell($0) }
    }
}

extension String {
    fileprivate var uppercasedASCII: String {
        String(
            unicodeScalars.map { scalar in
                "a"..."z" ~= scalar
                    ? Character(Unicode.Scalar(UInt8(scalar.value) - 32)) : Character(scalar)
            })
    }

    /// Each line separately, so that a pager may cut between them.
    fileprivate func styledLines(_ style: Style) -> String {
        split(separator: "\n").map { style.applied(to: String($0)) + "\n" }.joined()
    }
}
