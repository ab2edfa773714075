import Analysis

/// One figure of all launches that count: a dot for each, a box around the middle half, a line at
/// the median, and the median's interval below. Each arm has a lane; the scale is common.
struct BoxPlot {
    let model: PageModel
    let figure: Figure
    private let lanes: [Lane]
    private let axis: Axis

    private struct Lane {
        var arm: PageModel.Arm
        var distribution: Distribution
        /// Ascending.
        var values: [(launch: Int, value: Double)]
    }

    /// nil: no launch has the figure.
    init?(_ model: PageModel, _ figure: Figure) {
        self.model = model
        self.figure = figure
        lanes = model.arms.compactMap { arm in
            let values = model.values(figure, of: arm)
                .sorted { ($0.value, $0.launch) < ($1.value, $1.launch) }
            guard let distribution = arm.summary.flatMap(figure.distribution), !values.isEmpty
            else { return nil }
            return Lane(arm: arm, distribution: distribution, values: values)
        }
        guard !lanes.isEmpty else { return nil }
        axis = Axis(covering: lanes.lazy.flatMap(\.values).map(\.value))
    }

    func render() -> Markup {
        let foot = Double(lanes.count) * Self.laneHeight
        let ticks = Drawing.ticks(axis, figure.quantity.labels(axis), top: 0, foot: foot)
        let parts = lanes.indices.flatMap { draw(lanes[$0], top: Double($0) * Self.laneHeight) }
        return Drawing.plot(height: foot + Drawing.tickHeight, label: label, ticks + parts)
    }

    private var label: String {
        let medians = lanes.map { lane in
            let median = figure.quantity.text(lane.distribution.median)
            return model.arms.count > 1 ? "\(lane.arm.label) \(median)" : median
        }
        return "\(figure.title): median \(medians.joined(separator: ", "))"
    }

    // MARK: Parts

    private func draw(_ lane: Lane, top: Double) -> [Markup] {
        let style = lane.arm.style
        let values = lane.values.map(\.value)
        var parts: [Markup] = []
        let middle = top + (Self.boxTop + Self.boxFoot) / 2
        let ends = axis.fraction(values[0])...axis.fraction(values[values.count - 1])
        parts.append(Drawing.line("whole \(style)", x: ends, y: middle...middle))
        if let box = Quartiles(ascending: values) {
            parts.append(
                Drawing.rect(
                    "box \(style)", from: axis.fraction(box.lower), to: axis.fraction(box.upper),
                    y: top + Self.boxTop, height: Self.boxFoot - Self.boxTop))
        }
        if let interval = lane.distribution.interval {
            parts.append(
                Drawing.rect(
                    "interval \(style)", from: axis.fraction(interval.low),
                    to: axis.fraction(interval.high), y: top + Self.boxFoot + 2, height: 3))
        }
        let median = axis.fraction(lane.distribution.median)
        parts.append(
            Drawing.line(
                "median \(style)", x: median...median,
                y: (top + Self.boxTop - 2)...(top + Self.boxFoot + 5)))
        return parts + Quartiles.thinned(lane.values, to: Self.mostDots).map { dot($0, lane, top) }
    }

    /// Dots that would cover each other are shifted a little up or down, always in the same way.
    private func dot(
        _ value: (launch: Int, value: Double), _ lane: Lane, _ top: Double
    ) -> Markup {
        let row = Double(value.launch * 5 % Self.rows) / Double(Self.rows - 1)
        let y = top + Self.dotsTop + row * (Self.dotsFoot - Self.dotsTop)
        return Drawing.mark(
            axis.fraction(value.value), y, lane.arm, launch: value.launch,
            told: [
                LaunchWords(model).title(value.launch),
                "\(figure.title): \(figure.quantity.text(value.value))",
            ])
    }

    // MARK: Sizes

    private static let laneHeight = 42.0
    private static let dotsTop = 5.0
    private static let dotsFoot = 17.0
    private static let boxTop = 23.0
    private static let boxFoot = 35.0
    private static let rows = 7
    static let mostDots = 400
}

/// The middle half of some values.
struct Quartiles: Hashable, Sendable {
    let lower: Double
    let upper: Double

    /// nil: there are too few values.
    init?(ascending values: [Double]) {
        guard values.count >= 4 else { return nil }
        lower = Self.value(at: 0.25, of: values)
        upper = Self.value(at: 0.75, of: values)
    }

    /// The value below which a share of the values lies, interpolated between two neighbours
    /// (Hyndman and Fan's seventh definition, as in R and NumPy). `values` must ascend, and not be
    /// empty.
    static func value(at share: Double, of values: [Double]) -> Double {
        let position = min(max(0, share), 1) * Double(values.count - 1)
        let below = Int(position)
        let above = min(below + 1, values.count - 1)
        return values[below] + (position - Double(below)) * (values[above] - values[below])
    }

    /// At most `most` of the values, evenly chosen, including the least and the greatest.
    static func thinned<Value>(_ values: [Value], to most: Int) -> [Value] {
        guard values.count > most, most > 1 else { return values }
        return (0..<most).map { values[$0 * (values.count - 1) / (most - 1)] }
    }
}
