import Analysis
import Exports
import ProfileModel

/// The median and the 90th percentile of each point, with their intervals, the levels between
/// changes, and the goal.
struct TrendPlot {
    private let page: HistoryPageSeries
    private let axis: Axis

    init(_ page: HistoryPageSeries) {
        self.page = page
        let points = page.series.points
        var values = points.flatMap { point -> [Double] in
            [point.median, point.percentile90].compactMap { $0 }.flatMap { figure in
                [figure.value, figure.interval?.low, figure.interval?.high].compactMap { $0 }
            }
        }
        if let goal = page.history.goal { values.append(Double(goal.nanoseconds)) }
        axis = Axis(covering: values)
    }

    static func caption(_ history: LaunchHistory) -> String {
        let goal = history.goal == nil ? "" : " Dashed: the goal."
        return
            "A dot is a \(history.grouping.rawValue)'s median, a bar its 95 % interval, a short line "
            + "the 90th percentile (from 20 launches on). Horizontal lines: the usual median between "
            + "changes; vertical lines: changes.\(goal)"
    }

    func render() -> Markup {
        let count = page.series.points.count
        let label =
            "Median and 90th percentile of \(Numbers.count(count, page.history.grouping.rawValue)), "
            + "\(Numbers.count(page.series.changes.count, "change"))"
        let points = page.series.points.indices
        return Drawing.plot(
            height: Self.height + Drawing.tickHeight, label: label,
            grid + levels + goal + changes + points.flatMap(spread) + points.map(dot) + ends)
    }

    // MARK: Parts

    private var grid: [Markup] {
        zip(axis.ticks, Quantity.time.labels(axis)).flatMap { value, label in
            let y = height(of: value)
            return [
                Drawing.line("grid", x: 0...1, y: y...y),
                Drawing.text(label, 0, y - 2, anchor: "start"),
            ]
        }
    }

    /// The levels between changes, if there are any changes.
    private var levels: [Markup] {
        let changes = page.series.changes
        guard let first = changes.first else { return [] }
        let starts = [0] + changes.map(\.point)
        let ends = changes.map(\.point) + [page.series.points.count]
        let values = [first.step.before] + changes.map(\.step.after)
        return zip(zip(starts, ends), values).map { range, value in
            let (low, high) = (page.border(range.0), page.border(range.1))
            let y = height(of: value)
            return Drawing.line("level", x: low...max(low, high), y: y...y)
        }
    }

    private var goal: [Markup] {
        guard let goal = page.history.goal else { return [] }
        let y = height(of: Double(goal.nanoseconds))
        return [
            Drawing.line("goal", x: 0...1, y: y...y),
            Drawing.text("goal \(Numbers.measured(goal))", 1, y - 3, anchor: "end"),
        ]
    }

    private var changes: [Markup] {
        page.series.changes.flatMap { change -> [Markup] in
            let x = page.border(change.point)
            let style = change.step.change > 0 ? "slower" : "faster"
            return [
                Drawing.line("change \(style)", x: x...x, y: 0...Self.height),
                Drawing.text(
                    Numbers.change(change.step.change), x, 11, anchor: x > 0.9 ? "end" : "start",
                    style: "change \(style)"),
            ]
        }
    }

    private func spread(_ index: Int) -> [Markup] {
        let point = page.series.points[index]
        let x = page.across(index)
        let half = min(page.width * 0.3, 0.006)
        var parts: [Markup] = []
        if let interval = point.median.interval {
            parts.append(
                Drawing.line(
                    "spread first", x: x...x,
                    y: height(of: interval.high)...height(of: interval.low)))
        }
        if let percentile = point.percentile90 {
            let y = height(of: percentile.value)
            parts.append(Drawing.line("whole first", x: x - half...x + half, y: y...y))
            if let interval = percentile.interval {
                parts.append(
                    Drawing.line(
                        "whole first", x: x...x,
                        y: height(of: interval.high)...height(of: interval.low)))
            }
        }
        return parts
    }

    private func dot(_ index: Int) -> Markup {
        Drawing.dot(
            page.across(index), height(of: page.series.points[index].median.value), "first",
            launch: page.number(index) - 1, told: page.told(index))
    }

    /// The names of the first and the last point.
    private var ends: [Markup] {
        let points = page.series.points
        guard let first = points.first, let last = points.last else { return [] }
        let y = Self.height + 12
        let start = Drawing.text(
            HistoryWords.label(first), page.border(0), y, anchor: "start")
        return points.count > 1
            ? [start, Drawing.text(HistoryWords.label(last), 1, y, anchor: "end")] : [start]
    }

    private func height(of value: Double) -> Double {
        2 + (1 - axis.fraction(value)) * (Self.height - 4)
    }

    private static let height = 220.0
}
