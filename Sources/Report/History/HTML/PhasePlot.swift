import Analysis
import Exports

/// The phases of each point, stacked.
struct PhasePlot {
    private let page: HistoryPageSeries
    /// In the order of time; the largest phases over all points.
    let names: [String]
    private let axis: Axis

    /// One fewer than the style sheet has colours: the last colour is for all other phases.
    private static let most = 7
    private static let others = "Others"

    init(_ page: HistoryPageSeries) {
        self.page = page
        let points = page.series.points
        var sums: [String: Double] = [:]
        var order: [String] = []
        for phase in points.lazy.flatMap(\.phases) {
            if sums[phase.name] == nil { order.append(phase.name) }
            sums[phase.name, default: 0] += phase.median
        }
        let largest = Set(
            order.sorted { (sums[$0] ?? 0, $1) > (sums[$1] ?? 0, $0) }.prefix(Self.most))
        names = order.filter(largest.contains)
        let totals = points.map { point in point.phases.reduce(0) { $0 + $1.median } }
        axis = Axis(upTo: (totals.max() ?? 0) * 1.02, ticks: 4)
    }

    var legend: [Markup] {
        let shown = hasOthers ? names + [Self.others] : names
        return [Markup("span", ["class": "name"], text: "Phases")]
            + shown.enumerated().reversed().map { place, name in
                Markup(
                    "span", ["class": "dim arm"],
                    [
                        Markup(
                            "i", ["class": "swatch \(Self.style(place))", "aria-hidden": "true"]),
                        Markup(name.shortened(to: 60)),
                    ])
            }
    }

    private var hasOthers: Bool {
        page.series.points.contains { $0.phases.contains { !names.contains($0.name) } }
    }

    func render() -> Markup {
        let label =
            "The phases' medians, stacked, of "
            + Numbers.count(page.series.points.count, page.history.grouping.rawValue)
        return Drawing.plot(
            height: Self.height + 4, label: label,
            grid + page.series.points.indices.flatMap(column))
    }

    private var grid: [Markup] {
        zip(axis.ticks, Quantity.time.labels(axis)).flatMap { value, label in
            let y = height(of: value)
            return [
                Drawing.line("grid", x: 0...1, y: y...y),
                Drawing.text(label, 0, max(10, y - 2), anchor: "start"),
            ]
        }
    }

    /// A point's column, with its text.
    private func column(_ index: Int) -> [Markup] {
        let point = page.series.points[index]
        let gap = min(page.width * 0.1, 0.002)
        let (low, high) = (page.border(index) + gap, page.border(index) + page.width - gap)
        var sum = 0.0
        var parts: [Markup] = []
        let known = Dictionary(point.phases.map { ($0.name, $0.median) }) { one, _ in one }
        let total = point.phases.reduce(0) { $0 + $1.median }
        let shown = names.map { known[$0] ?? 0 }
        let rest = max(0, total - shown.reduce(0, +))
        for (place, wall) in (shown + [rest]).enumerated() where wall > 0 {
            let (foot, top) = (height(of: sum), height(of: sum + wall))
            parts.append(
                Drawing.rect(
                    "stacked \(place < names.count ? Self.style(place) : Self.style(Self.most))",
                    from: low, to: high, y: top, height: foot - top))
            sum += wall
        }
        let told =
            [HistoryWords.label(point)]
            + point.phases.prefix(Self.mostTold).map {
                "\($0.name.shortened(to: 60)): \(Quantity.time.text($0.median))"
            }
        let cover = Markup(
            "rect",
            [
                "class": "datum cover", "x": Drawing.percent(low),
                "y": Drawing.pixels(height(of: total)), "width": Drawing.percent(high - low),
                "height": Drawing.pixels(height(of: 0) - height(of: total)),
                "data-launch": "\(page.number(index))",
            ], [Drawing.title(told)])
        return parts + [cover]
    }

    private static func style(_ place: Int) -> String { "layer\(min(place, most))" }

    private func height(of value: Double) -> Double {
        2 + (1 - axis.fraction(value)) * (Self.height - 4)
    }

    private static let height = 180.0
    private static let mostTold = 20
}
