import Analysis
import Exports

/// The summary in figures: all that plots show, and more.
struct FigureTable {
    let model: PageModel

    /// A heading, and its figures.
    private var groups: [(title: String, figures: [Figure])] {
        let phases = model.figures.phases
        return [
            ("Wall time", [.wall] + phases.map(Figure.phase)),
            ("CPU time", [.cpu] + phases.map(Figure.phaseCPU)),
            ("Waiting, faults, storage", [.mainBlocked, .minorFaults, .majorFaults, .readBytes]),
        ] + processes
    }

    /// The most expensive ones; JSON has all.
    private static let mostProcesses = 20

    private var processes: [(title: String, figures: [Figure])] {
        var known: Set<String> = []
        let names = model.arms.flatMap { $0.summary?.processes ?? [] }
            .sorted { $0.wall.median > $1.wall.median }.map(\.name)
            .filter { known.insert($0).inserted }.prefix(Self.mostProcesses)
        guard !names.isEmpty else { return [] }
        return [
            ("Started processes, wall time", names.map(Figure.processWall)),
            ("Started processes, CPU time", names.map(Figure.processCPU)),
        ]
    }

    private var hasTwoArms: Bool { model.arms.count > 1 }

    func render() -> Markup {
        let bodies = groups.map(body)
        let table = Markup(
            "table", ["class": "figures-table"],
            [.lines([Markup("thead", [:], [head])] + bodies)])
        let more = model.figures.phasesLeftOut
        guard more > 0 else { return Markup("div", ["class": "scroll"], [table]) }
        return Markup("div", ["class": "scroll"], [table])
            + Markup(
                "p", ["class": "caption"],
                text: "\(Numbers.count(more, "phase")) more: report --format json has all.")
    }

    private var head: Markup {
        var cells = [Markup("th", ["scope": "col"], text: "")]
        if hasTwoArms { cells.append(Markup("th", ["scope": "col"], text: "Program")) }
        let titles = ["n", "Median", "95 % interval", "90th percentile", "Minimum", "Maximum"]
        cells += (titles + (hasTwoArms ? ["Difference"] : [])).map {
            Markup("th", ["scope": "col", "class": "number"], text: $0)
        }
        return Markup("tr", [:], cells)
    }

    private func body(_ group: (title: String, figures: [Figure])) -> Markup {
        let columns = hasTwoArms ? 9 : 7
        let title = Markup(
            "tr", ["class": "group"],
            [
                Markup(
                    "th", ["scope": "rowgroup", "colspan": "\(columns)"], text: group.title)
            ])
        return Markup("tbody", [:], [.lines([title] + group.figures.flatMap(rows))])
    }

    /// One row for each arm.
    private func rows(_ figure: Figure) -> [Markup] {
        let known = model.arms.map { $0.summary.flatMap(figure.distribution) }
        guard known.contains(where: { $0 != nil }) else { return [unknown(figure)] }
        return zip(model.arms, known).map { arm, distribution in
            var cells: [Markup] = []
            if arm.index == 0 {
                cells.append(name(figure, rows: model.arms.count))
            }
            if hasTwoArms { cells.append(Markup("td", [:], [PageParts.label(arm)])) }
            cells += values(distribution, figure)
            if hasTwoArms { cells.append(difference(figure, known, isFirst: arm.index == 0)) }
            return Markup("tr", ["data-arm": "\(arm.index)"], cells)
        }
    }

    private func name(_ figure: Figure, rows: Int) -> Markup {
        Markup("th", ["scope": "row", "rowspan": "\(rows)"], text: figure.title)
    }

    /// Unknown differs from none.
    private func unknown(_ figure: Figure) -> Markup {
        let columns = hasTwoArms ? 8 : 6
        return Markup(
            "tr", [:],
            [
                name(figure, rows: 1),
                Markup("td", ["class": "empty", "colspan": "\(columns)"], text: "not known"),
            ])
    }

    // MARK: Cells

    private func values(_ distribution: Distribution?, _ figure: Figure) -> [Markup] {
        guard let distribution else {
            return [Markup("td", ["class": "empty", "colspan": "6"], text: "not known")]
        }
        func cell(_ value: Double) -> Markup { number([Self.value(value, figure.quantity)]) }
        return [
            number([Markup(Numbers.grouped(distribution.count))]), cell(distribution.median),
            number(interval(distribution.interval, figure)),
            distribution.percentile90.map(cell) ?? number([Markup("–")]),
            cell(distribution.minimum), cell(distribution.maximum),
        ]
    }

    /// With few values, the interval has another confidence than the column's title says: then the
    /// cell tells it.
    private func interval(_ interval: Distribution.Interval?, _ figure: Figure) -> [Markup] {
        guard let interval else { return [Markup("–")] }
        let (low, high) = (interval.low, interval.high)
        let bounds = [
            Self.value(low, figure.quantity), Markup(" to "), Self.value(high, figure.quantity),
        ]
        guard interval.confidence < 0.95 else { return bounds }
        return bounds + [Markup(" (only \(Numbers.confidence(interval.confidence)))")]
    }

    /// Only for the launch itself do we know the difference's interval.
    private func difference(_ figure: Figure, _ known: [Distribution?], isFirst: Bool) -> Markup {
        guard isFirst else { return number([]) }
        if figure == .wall, let comparison = model.summary.comparison {
            let words = ComparisonWords(comparison: comparison, names: model.names)
            return number([Markup("strong", [:], text: words.change)])
        }
        guard known.count == 2, let first = known[0], let second = known[1] else {
            return number([Markup("–")])
        }
        let text = figure.quantity.signed(first.median - second.median)
        return Markup(
            "td",
            ["class": "number dim", "title": "difference of the medians, without an interval"],
            text: text)
    }

    private func number(_ content: [Markup]) -> Markup {
        Markup("td", ["class": "number"], content)
    }

    /// A figure for people, and its exact value for programs.
    static func value(_ value: Double, _ quantity: Quantity) -> Markup {
        Markup("data", ["value": "\(value)"], text: quantity.text(value))
    }
}
