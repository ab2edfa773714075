package import Analysis
import Exports
package import ProfileModel

/// A measurement as one page that needs no network and no other file.
///
/// Plots and tables are in the page in their final form. The only script shows tooltips.
package enum MeasurementPage {
    /// - Returns: HTML in UTF-8. The same values give the same bytes.
    package static func html(
        of measurement: Measurement, summary: MeasurementSummary
    ) -> [UInt8] {
        let model = PageModel(measurement, summary)
        let header = PageHeader(model: model)
        let title = ([header.title] + header.figures.prefix(1)).joined(separator: ": ")
        return PageFrame.fill(
            PageBundle.measurement,
            [
                "@TITLE@": Markup("title", [:], text: "\(title) – Firstlight").source,
                "@CONTENT@": Markup.lines([header.render()] + sections(model)).source,
            ])
    }

    private static func sections(_ model: PageModel) -> [Markup] {
        [
            difference(model), order(model), figures(model), distribution(model),
            PageParts.section("Figures", [FigureTable(model: model).render()]),
            DiscardSection(model: model).render(), LaunchTable(model).render(),
        ].compactMap { $0 }
    }

    // MARK: Sections

    private static func difference(_ model: PageModel) -> Markup? {
        guard model.arms.count == 2, let comparison = model.summary.comparison else { return nil }
        let words = ComparisonWords(comparison: comparison, names: model.names)
        let name = [
            Markup("strong", [:], text: Numbers.change(comparison.change)),
            Markup("span", ["class": "dim"], text: Quantity.time.signed(comparison.difference)),
        ]
        return PageParts.section(
            "Difference",
            [
                PageParts.row(
                    name, DifferencePlot(comparison: comparison, label: words.change).render()),
                PageParts.caption(
                    "\(model.names.title), launch by launch: \(words.figures). Dashed: no "
                        + "difference."),
            ])
    }

    private static func order(_ model: PageModel) -> Markup? {
        guard !model.measurement.launches.isEmpty else { return nil }
        let strip = StripPlot(model)
        let grouped =
            strip.isGrouped ? " There are many: each line spans the times of several in a row." : ""
        return PageParts.section(
            "Launches in their order",
            [
                PageParts.row(model.arms.map(named), strip.render()),
                PageParts.caption(
                    "Line and band: the median and its interval. ×: does not count; ▲ ▼: does not "
                        + "count, and is outside the scale.\(grouped)"),
            ])
    }

    private static func figures(_ model: PageModel) -> Markup? {
        let figures =
            [.wall] + model.figures.phases.map(Figure.phase) + [.cpu, .mainBlocked] as [Figure]
        let rows = figures.compactMap { figure in
            BoxPlot(model, figure).map { plot in
                PageParts.row(name(of: figure, model), plot.render())
            }
        }
        guard !rows.isEmpty else { return nil }
        return PageParts.section(
            "Phases",
            rows + [
                PageParts.caption(
                    "A dot is a launch. Box: the middle half; line: the median; bar below: its "
                        + "95 % interval. Each row has its own scale, which does not always begin "
                        + "at zero."
                        + (hasMoreThanDots(model) ? " Not all dots are drawn." : ""))
            ])
    }

    private static func distribution(_ model: PageModel) -> Markup? {
        let histogram = Histogram(model)
        guard let cumulative = CumulativePlot(model) else { return nil }
        var content: [Markup] = []
        if let histogram {
            content.append(PageParts.row(model.arms.map(named), histogram.render()))
        }
        content.append(PageParts.row([Markup("Share that took no longer")], cumulative.render()))
        let few =
            histogram == nil
            ? "Fewer than \(Histogram.fewest) launches make no histogram."
            : "Above: how often; below:"
                + " the share of launches that took at most this long."
        return PageParts.section("Distribution", content + [PageParts.caption(few)])
    }

    private static func hasMoreThanDots(_ model: PageModel) -> Bool {
        model.arms.contains { $0.counted.count > BoxPlot.mostDots }
    }

    // MARK: Names next to plots

    private static func named(_ arm: PageModel.Arm) -> Markup { PageParts.label(arm) }

    /// With the medians.
    private static func name(of figure: Figure, _ model: PageModel) -> [Markup] {
        let medians = model.arms.compactMap { arm -> Markup? in
            guard let known = arm.summary.flatMap(figure.distribution) else { return nil }
            let swatch = Markup("i", ["class": "swatch \(arm.style)", "aria-hidden": "true"])
            let value = FigureTable.value(known.median, figure.quantity)
            return Markup(
                "span", ["class": "dim"], model.arms.count > 1 ? [swatch, value] : [value])
        }
        return [Markup("span", ["class": "name"], text: figure.title)] + medians
    }
}

/// The difference of two arms with its interval, compared with zero.
struct DifferencePlot {
    let comparison: Comparison
    let label: String

    func render() -> Markup {
        let axis = Axis(covering: [0, comparison.low, comparison.change, comparison.high])
        let zero = axis.fraction(0)
        let (low, high) = (axis.fraction(comparison.low), axis.fraction(comparison.high))
        let change = axis.fraction(comparison.change)
        let labels = axis.ticks.map(Numbers.change)
        let parts = [
            Drawing.line("none", x: zero...zero, y: 0...Self.height),
            Drawing.rect("interval first", from: low, to: high, y: 15, height: 4),
            Drawing.line("median first", x: change...change, y: 8...26),
        ]
        return Drawing.plot(
            height: Self.height + Drawing.tickHeight, label: label,
            Drawing.ticks(axis, labels, top: 0, foot: Self.height) + parts)
    }

    private static let height = 34.0
}

/// The launches that do not count, the reasons, and the output of those that failed.
struct DiscardSection {
    let model: PageModel

    /// nil: all count.
    func render() -> Markup? {
        let launches = model.measurement.launches
        let discarded = launches.indices.filter { launches[$0].discarded != nil }
        guard !discarded.isEmpty else { return nil }
        let reasons = MeasuredLaunch.Discard.allCases.compactMap { reason -> Markup? in
            let those = discarded.filter { launches[$0].discarded == reason }
            return those.isEmpty ? nil : self.reason(reason, those)
        }
        let printed = discarded.filter { !launches[$0].output.isEmpty }
        return PageParts.section(
            "Launches that do not count",
            [Markup("ul", ["class": "discards"], [.lines(reasons)])]
                + printed.prefix(Self.mostOutputs).map(output))
    }

    private func reason(_ reason: MeasuredLaunch.Discard, _ launches: [Int]) -> Markup {
        let shown = launches.prefix(Self.mostNumbers).map(model.numberAndArm)
        let more = launches.count - shown.count
        let names = shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        let noun = launches.count == 1 ? "launch" : "launches"
        return Markup(
            "li", ["data-reason": reason.rawValue],
            [
                Markup("strong", [:], text: Numbers.grouped(launches.count)),
                Markup(": \(DiscardWords.text(reason)) (\(noun) \(names))"),
            ])
    }

    private func output(_ index: Int) -> Markup {
        let launch = model.measurement.launches[index]
        let title =
            "\(LaunchWords(model).title(index)): \(OutcomeWords.text(launch.outcome)); "
            + "what it printed last"
        let lines = launch.output.split(separator: "\n", omittingEmptySubsequences: false)
        return Markup(
            "details", ["class": "output"],
            [
                Markup("summary", [:], text: title),
                Markup("pre", ["class": "excerpt"], [Markup(lines: lines.map(String.init))]),
            ])
    }

    private static let mostNumbers = 20
    private static let mostOutputs = 20
}
