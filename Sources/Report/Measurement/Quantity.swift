/// What a figure counts, and so how it is written.
enum Quantity: Sendable {
    /// In nanoseconds.
    case time
    case count
    case bytes

    /// With four digits, so that an interval can be told from its median: "42.31 ms".
    func text(_ value: Double) -> String {
        guard abs(value) < Numbers.absurd else { return Numbers.unknown }
        // Nothing is nothing in the unit that most others have.
        if value == 0, case .time = self { return "0 ms" }
        let (unit, decimals) = unit(for: value)
        return Numbers.decimal(value / unit.size, decimals) + unit.suffix
    }

    /// "42.31 to 42.92 ms"
    func range(_ low: Double, _ high: Double) -> String {
        let (first, second) = (text(low), text(high))
        let suffix = unit(for: high).unit.suffix
        guard !suffix.isEmpty, first.hasSuffix(suffix), second.hasSuffix(suffix) else {
            return "\(first) to \(second)"
        }
        return "\(first.dropLast(suffix.count)) to \(second)"
    }

    /// "+1.200 ms", "-1.200 ms"
    func signed(_ value: Double) -> String { (value > 0 ? "+" : "") + text(value) }

    /// As ticks of an axis: all with the unit of the largest, and as many decimals as they need.
    func labels(_ axis: Axis) -> [String] {
        let largest = axis.ticks.map { abs($0) }.max() ?? 0
        let unit = unit(for: largest).unit
        let decimals = Numbers.decimals(of: axis.step / unit.size)
        return axis.ticks.map { Numbers.decimal($0 / unit.size, decimals) + unit.suffix }
    }

    private struct Unit {
        var size: Double
        var suffix: String
    }

    private var units: [Unit] {
        switch self {
        case .time:
            [
                Unit(size: 1, suffix: " ns"), Unit(size: 1e3, suffix: " µs"),
                Unit(size: 1e6, suffix: " ms"), Unit(size: 1e9, suffix: " s"),
            ]
        case .count: [Unit(size: 1, suffix: "")]
        case .bytes:
            [
                Unit(size: 1, suffix: " B"), Unit(size: 1024, suffix: " KiB"),
                Unit(size: 1_048_576, suffix: " MiB"), Unit(size: 1_073_741_824, suffix: " GiB"),
            ]
        }
    }

    /// The largest of which there is at least one once it is rounded, and the decimals for it.
    private func unit(for value: Double) -> (unit: Unit, decimals: Int) {
        let size = abs(value)
        var chosen = units[0]
        for unit in units.dropFirst() where size >= unit.size * 0.99995 { chosen = unit }
        let scaled = size / chosen.size
        // Parts of a nanosecond, a fault or a byte are those of a mean between two.
        if chosen.size == 1 { return (chosen, scaled == scaled.rounded() ? 0 : 1) }
        return (chosen, scaled < 9.9995 ? 3 : scaled < 99.995 ? 2 : scaled < 999.95 ? 1 : 0)
    }
}
