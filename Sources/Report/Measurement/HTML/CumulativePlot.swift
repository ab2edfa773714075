import Analysis
import Exports

/// The empirical distribution: for each duration, the share of launches that took no longer. It is
/// the best plot for comparing two arms.
struct CumulativePlot {
    private let model: PageModel
    private let lanes: [(arm: PageModel.Arm, values: [(launch: Int, value: Double)])]
    private let axis: Axis

    /// nil: fewer than two launches count.
    init?(_ model: PageModel) {
        self.model = model
        lanes = model.arms.map { arm in
            let values = model.values(.wall, of: arm)
            return (arm, values.sorted { ($0.value, $0.launch) < ($1.value, $1.launch) })
        }
        guard lanes.contains(where: { $0.values.count > 1 }) else { return nil }
        axis = Axis(covering: lanes.lazy.flatMap(\.values).map(\.value), ticks: 8)
    }

    func render() -> Markup {
        let foot = Self.height
        let ticks = Drawing.ticks(axis, Quantity.time.labels(axis), top: 0, foot: foot)
        let label = "For each duration, the share of launches that took no longer"
        return Drawing.plot(
            height: foot + Drawing.tickHeight, label: label,
            ticks + shares + lanes.map(steps) + lanes.flatMap(dots))
    }

    /// The shares that summaries show.
    private var shares: [Markup] {
        [0.5, 0.9].flatMap { share -> [Markup] in
            let y = height(of: share)
            let label = "\(Numbers.decimal(share * 100, 0)) %"
            return [
                Drawing.line("grid", x: 0...1, y: y...y),
                Drawing.text(label, 0, y - 2, anchor: "start"),
            ]
        }
    }

    /// A separate drawing that is stretched, because a path cannot use shares of the width.
    private func steps(
        _ lane: (arm: PageModel.Arm, values: [(launch: Int, value: Double)])
    ) -> Markup {
        let count = lane.values.count
        guard count > 0 else { return Markup() }
        var path = "M0 \(Drawing.pixels(height(of: 0)))"
        for index in Quartiles.thinned(Array(0..<count), to: Self.mostSteps) {
            let x = Drawing.pixels(axis.fraction(lane.values[index].value) * 1000)
            path += "H\(x)V\(Drawing.pixels(height(of: Double(index + 1) / Double(count))))"
        }
        path += "H1000"
        return Markup(
            "svg",
            [
                "width": "100%", "height": Drawing.pixels(Self.height),
                "viewBox": "0 0 1000 \(Drawing.pixels(Self.height))",
                "preserveAspectRatio": "none",
            ], [Markup("path", ["class": "steps \(lane.arm.style)", "d": path])])
    }

    private func dots(
        _ lane: (arm: PageModel.Arm, values: [(launch: Int, value: Double)])
    ) -> [Markup] {
        let count = lane.values.count
        return Quartiles.thinned(Array(0..<count), to: BoxPlot.mostDots).map { index in
            let (launch, value) = lane.values[index]
            let share = Numbers.percent(index + 1, of: count)
            return Drawing.mark(
                axis.fraction(value), height(of: Double(index + 1) / Double(count)), lane.arm,
                launch: launch,
                told: [
                    LaunchWords(model).title(launch),
                    "\(share) of the launches took at most \(Quantity.time.text(value))",
                ])
        }
    }

    private func height(of share: Double) -> Double { 6 + (1 - share) * (Self.height - 8) }

    private static let height = 150.0
    private static let mostSteps = 1_000
}
