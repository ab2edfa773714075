import Analysis
import Exports

/// Every point of a series: its figures, its phases, and how it was measured.
struct HistoryTable {
    let page: HistoryPageSeries

    private static let mostPhases = 12

    func render() -> Markup {
        let phases = phases
        let fixed =
            (page.history.grouping == .version ? ["Version", "Since"] : ["Day"])
            + ["Median", "95 % interval", "90th", "95 % interval", "Launches", "Measurements"]
        let titles = (fixed + phases).map { Markup("th", ["scope": "col"], text: $0) }
        let rows = page.series.points.indices.map { row($0, phases) }
        return Markup(
            "div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Figures"],
            [
                Markup(
                    "table", ["class": "figures-table"],
                    [
                        Markup("thead", [:], [Markup("tr", [:], titles)]),
                        Markup("tbody", [:], [.lines(rows)]),
                    ])
            ])
    }

    /// The largest phases of the latest point, in the order of time.
    private var phases: [String] {
        let latest = page.series.points.last?.phases ?? []
        let names = Set(
            latest.sorted { $0.median > $1.median }.prefix(Self.mostPhases).map(\.name))
        return latest.map(\.name).filter(names.contains)
    }

    private func row(_ index: Int, _ phases: [String]) -> Markup {
        let point = page.series.points[index]
        let change = page.series.changes.first { $0.point == index }
        let mark = change.map { $0.step.change > 0 ? "▲ " : "▼ " } ?? ""
        let since =
            page.history.grouping == .version
            ? [number(Markup(HistoryWords.day(point.firstDate)))] : []
        let known = Dictionary(point.phases.map { ($0.name, $0.median) }) { one, _ in one }
        let cells =
            [Markup("th", ["scope": "row"], text: mark + HistoryWords.label(point))] + since + [
                figure(point.median), number(Markup(HistoryWords.interval(point.median))),
                figure(point.percentile90),
                number(Markup(HistoryWords.interval(point.percentile90))),
                number(Markup(Numbers.grouped(point.launches))),
                number(Markup(Numbers.grouped(point.sessions.count))),
            ]
            + phases.map { name in
                number(known[name].map { FigureTable.value($0, .time) } ?? Markup("–"))
            }
        return Markup(
            "tr",
            [
                "id": "launch-\(page.number(index))", "data-launch": "\(page.number(index))",
                "class": change == nil ? "point" : "point changed",
            ], cells)
    }

    private func figure(_ figure: HistoryFigure?) -> Markup {
        number(figure.map { FigureTable.value($0.value, .time) } ?? Markup("too few"))
    }

    private func number(_ content: Markup) -> Markup {
        Markup("td", ["class": "number"], [content])
    }
}
