import Exports

/// What a figure measures, which determines its format.
enum Quantity: Sendable {
    /// In nanoseconds.
    case time
    case count
    case bytes

    /// With four digits, so that an interval's ends differ from its median: "42.31 ms".
    func text(_ value: Double) -> String {
        guard abs(value) < Numbers.absurd else { return Numbers.unknown }
        // Zero has the unit that most others have.
        if value == 0, case .time = self { return "0 ms" }
        let (unit, decimals) = unit(for: value)
        return Numbers.decimal(value / unit.size, decimals) + unit.suffix
    }

    /// "42.31 to 42.92 ms", "0.657 to 11.24 ms": in one unit, unless the lower end would lose all
    /// its digits.
    func range(_ low: Double, _ high: Double) -> String {
        let unit = unit(for: high).unit
        let scaled = low / unit.size
        guard abs(low) < Numbers.absurd, abs(high) < Numbers.absurd, abs(low) <= abs(high),
            low == 0 || abs(scaled) >= 0.01
        else { return "\(text(low)) to \(text(high))" }
        let decimals = low == 0 ? 0 : decimals(of: scaled, in: unit)
        return "\(Numbers.decimal(scaled, decimals)) to \(text(high))"
    }

    /// "+1.200 ms", "-1.200 ms"
    func signed(_ value: Double) -> String { (value > 0 ? "+" : "") + text(value) }

    /// For the ticks of an axis: all with the unit of the largest, and as many decimals as they
    /// need.
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

    /// The largest unit of which the rounded value has at least one, and the number of decimals.
    private func unit(for value: Double) -> (unit: Unit, decimals: Int) {
        let size = abs(value)
        var chosen = units[0]
        for unit in units.dropFirst() where size >= unit.size * 0.99995 { chosen = unit }
        return (chosen, decimals(of: size / chosen.size, in: chosen))
    }

    private func decimals(of scaled: Double, in unit: Unit) -> Int {
        let size = abs(scaled)
        // A mean of two values may have half a nanosecond, fault or byte.
        if unit.size == 1 { return size == size.rounded() ? 0 : 1 }
        return size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0
    }
}
