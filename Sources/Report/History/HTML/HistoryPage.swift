import Analysis
import Exports

/// A history as one self-contained page. Each series has a plot of the percentiles with its changes
/// and the goal, the stacked phases, and a table.
struct HistoryPage {
    let history: LaunchHistory

    func render() -> [UInt8] {
        let series = history.series.enumerated().map { place, series in
            HistoryPageSeries(
                history: history, series: series, place: place,
                first: history.series[..<place].reduce(0) { $0 + $1.points.count })
        }
        let title = Set(series.map(\.words.name)).sorted().joined(separator: ", ")
        return PageFrame.fill(
            PageBundle.measurement,
            [
                "@TITLE@": Markup("title", [:], text: "\(title): history – Firstlight").source,
                "@CONTENT@": Markup.lines(
                    [header(title)] + series.flatMap(\.sections) + [leftOut].compactMap { $0 }
                ).source,
            ])
    }

    private func header(_ title: String) -> Markup {
        let figures = [
            Numbers.count(history.sessions, "measurement"),
            history.series.count == 1 ? "one series" : "\(history.series.count) series",
            "by \(history.grouping.rawValue)",
        ]
        return Markup(
            "header", [:],
            [
                .lines([
                    Markup("h1", [:], text: title.shortened(to: 400)),
                    Markup("p", ["class": "figures"], text: figures.joined(separator: " · ")),
                ])
            ])
    }

    private var leftOut: Markup? {
        guard !history.leftOut.isEmpty else { return nil }
        let items = history.leftOut.map { left in
            Markup("li", [:], text: "\(left.file): \(left.reason)")
        }
        return PageParts.section("Left out", [Markup("ul", ["class": "discards"], items)])
    }
}

/// One series on the page.
struct HistoryPageSeries {
    let history: LaunchHistory
    let series: HistorySeries
    /// Its position among all series.
    let place: Int
    /// The number of its first point: points are counted over all series.
    let first: Int

    var words: HistoryWords { HistoryWords(history: history, series: series) }

    var sections: [Markup] {
        [
            PageParts.section(words.name, facts + changes),
            PageParts.section(
                "Launch",
                [
                    PageParts.row(names, TrendPlot(self).render()),
                    PageParts.caption(TrendPlot.caption(history)),
                ]),
            phases,
            PageParts.section(
                history.grouping == .version ? "Versions" : "Days",
                [HistoryTable(page: self).render()]),
        ].compactMap { $0 }
    }

    private var names: [Markup] {
        [
            Markup("span", ["class": "name"], text: "Launch"),
            Markup("span", ["class": "dim"], text: "● median"),
            Markup("span", ["class": "dim"], text: "– 90th percentile"),
        ]
    }

    private var facts: [Markup] {
        [
            Markup("p", ["class": "command"], [Markup("code", [:], text: words.command)]),
            Markup("p", ["class": "dim"], text: words.facts.joined(separator: " · ")),
            Markup("p", ["class": "dim"], text: "on " + words.machine),
        ]
    }

    private var changes: [Markup] {
        let told = series.changes.map { change in
            Markup(
                "p", ["class": "verdict \(change.step.change > 0 ? "slower" : "faster")"],
                text: words.change(change))
        }
        let none = Markup("p", ["class": "verdict"], text: words.noChange)
        let goal = words.goal.map { Markup("p", ["class": "verdict"], text: $0) }
        return (told.isEmpty ? [none] : told) + [goal].compactMap { $0 }
    }

    private var phases: Markup? {
        let plot = PhasePlot(self)
        guard !plot.names.isEmpty else { return nil }
        return PageParts.section(
            "Phases",
            [
                PageParts.row(plot.legend, plot.render()),
                PageParts.caption(
                    "The phases' medians, stacked: their sum may differ from the launch's median."),
            ])
    }

    // MARK: Points

    /// The tooltip of a point.
    func told(_ index: Int) -> [String] {
        let point = series.points[index]
        let change = series.changes.first { $0.point == index }
        let sessions =
            Numbers.launches(point.launches) + ", "
            + Numbers.count(point.sessions.count, "measurement")
        return [
            HistoryWords.label(point) + " · since " + HistoryWords.day(point.firstDate),
            "median \(HistoryWords.value(point.median)) (\(HistoryWords.interval(point.median)))",
            "90th percentile \(HistoryWords.value(point.percentile90))"
                + (point.percentile90 == nil
                    ? "" : " (\(HistoryWords.interval(point.percentile90)))"),
            sessions,
        ] + [change.map(words.change)].compactMap { $0 }
    }

    /// Counted from 1 over all series, like the page's marks and lines.
    func number(_ index: Int) -> Int { first + index + 1 }

    /// To the right of the ticks' labels.
    func across(_ index: Int) -> Double { border(index) + width / 2 }

    /// The border before the point.
    func border(_ index: Int) -> Double { Self.left + width * Double(index) }

    var width: Double { (1 - Self.left) / Double(max(1, series.points.count)) }

    private static let left = 0.08
}
