import Analysis
import Exports

/// How often launches take how long: one histogram per arm, with the same bins.
struct Histogram {
    let bins: Bins
    private let model: PageModel
    private let lanes: [(arm: PageModel.Arm, counts: [Int], total: Int)]

    /// With fewer launches a histogram means nothing.
    static let fewest = 10

    /// nil: there are too few launches.
    init?(_ model: PageModel) {
        self.model = model
        let values = model.arms.map { model.values(.wall, of: $0).map(\.value).sorted() }
        guard values.contains(where: { $0.count >= Self.fewest }) else { return nil }
        let all = values.flatMap(\.self).sorted()
        let bins = Bins(ascending: all)
        self.bins = bins
        lanes = zip(model.arms, values).compactMap { arm, values in
            values.isEmpty ? nil : (arm, bins.counts(values), values.count)
        }
    }

    func render() -> Markup {
        let foot = Double(lanes.count) * Self.laneHeight
        let axis = bins.axis
        let ticks = Drawing.ticks(axis, Quantity.time.labels(axis), top: 0, foot: foot)
        // Shares, so that arms with different numbers of launches can be compared.
        let highest = lanes.map { Double($0.counts.max() ?? 0) / Double($0.total) }.max() ?? 1
        var parts: [Markup] = []
        for (index, lane) in lanes.enumerated() {
            let ground = Double(index + 1) * Self.laneHeight
            for (bin, count) in lane.counts.enumerated() where count > 0 {
                let share = Double(count) / Double(lane.total)
                let height = share / highest * (Self.laneHeight - 8)
                parts.append(bar(bin, count, lane.arm, lane.total, ground, height))
            }
            parts.append(Drawing.line("ground", x: 0...1, y: ground...ground))
        }
        let label = "How many launches took how long"
        return Drawing.plot(height: foot + Drawing.tickHeight, label: label, ticks + parts)
    }

    private func bar(
        _ bin: Int, _ count: Int, _ arm: PageModel.Arm, _ total: Int, _ ground: Double,
        _ height: Double
    ) -> Markup {
        let (low, high) = (bins.start(of: bin), bins.start(of: bin + 1))
        let told = [
            Quantity.time.range(low, high),
            "\(Numbers.grouped(count)) of \(Numbers.grouped(total)) launches "
                + "(\(Numbers.percent(count, of: total)))"
                + (model.arms.count > 1 ? " · \(arm.label)" : ""),
        ]
        return Drawing.rect(
            "datum bar \(arm.style)", from: bins.axis.fraction(low), to: bins.axis.fraction(high),
            y: ground - height, height: height, told: told)
    }

    private static let laneHeight = 84.0

    /// Intervals with one round width that contain all values.
    struct Bins: Sendable {
        let first: Double
        let width: Double
        let count: Int
        let axis: Axis

        /// Freedman and Diaconis's width, rounded up; at most ``most`` bins, so a single outlier
        /// leaves only few for the other values.
        init(ascending values: [Double]) {
            let (low, high) = (values.first ?? 0, values.last ?? 0)
            let middle = Quartiles(ascending: values).map { $0.upper - $0.lower } ?? 0
            let ideal = 2 * middle / Self.cubeRoot(values.count)
            let least = max((high - low) / Double(Self.most - 1), abs(low) * 1e-6, 1)
            width = Axis.round(above: max(ideal, least))
            first = (low / width).rounded(.down) * width
            let needed = ((high - first) / width).rounded(.down) + 1
            count = min(max(1, Int(min(max(0, needed), 1e6))), Self.most + 1)
            axis = Axis(covering: [first, first + Double(count) * width], ticks: 8)
        }

        func start(of bin: Int) -> Double { first + Double(bin) * width }

        func counts(_ values: [Double]) -> [Int] {
            var result = [Int](repeating: 0, count: count)
            for value in values {
                let bin = min(max(0, (value - first) / width), Double(count - 1))
                result[Int(bin)] += 1
            }
            return result
        }

        private static let most = 80

        /// By Newton's method, because there is no mathematics library here.
        private static func cubeRoot(_ value: Int) -> Double {
            let value = Double(max(1, value))
            var root = value < 8 ? 1.5 : value / 4
            for _ in 0..<60 { root -= (root * root * root - value) / (3 * root * root) }
            return root
        }
    }
}
