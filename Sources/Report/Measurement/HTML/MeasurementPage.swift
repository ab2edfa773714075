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
