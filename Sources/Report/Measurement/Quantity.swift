/// What a figure counts, and so how it is written.
enum Quantity: Sendable {
    /// In nanoseconds.
    case time
    case count
    case bytes

    /// With four digits, so that an interval can be told from its median: "42.31 ms".
    func text(_ value: Double) -> String {
        guard abs(value) < FigureNumbers.absurd else { return FigureNumbers.unknown }
        let (unit, decimals) = unit(for: value)
        return FigureNumbers.decimal(value / unit.size, decimals) + unit.suffix
    }

    /// "42.31 to 42.92 ms"
    func range(_ low: Double, _ high: Double) -> String {
        let (first, second) = (text(low), text(high))
        let suffix = unit(for: high).unit.suffix
        guard !suffix.isEmpty, first.hasSuffix(suffix), unit(for: low).unit.suffix == suffix else {
            return "\(first) to \(second)"
        }
        return "\(first.dropLast(suffix.count)) to \(second)"
    }

    /// "+1.20 ms", "−1.20 ms"
    func signed(_ value: Double) -> String {
        value == 0 ? text(value) : value < 0 ? "−" + text(-value) : "+" + text(value)
    }

    /// As ticks of an axis: all with the unit of the largest, and as many decimals as they need.
    func labels(_ axis: Axis) -> [String] {
        let largest = axis.ticks.map { abs($0) }.max() ?? 0
        let unit = unit(for: largest).unit
        let decimals = FigureNumbers.decimals(of: axis.step / unit.size)
        return axis.ticks.map {
            FigureNumbers.decimal($0 / unit.size, decimals) + unit.suffix
        }
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

/// Numbers with decimals, as text.
enum FigureNumbers {
    static let unknown = "unknown"
    /// No figure is as large.
    static let absurd = 1e17

    /// "+3.1 %", "−0.04 %": a change, given as a share.
    static func change(_ share: Double) -> String {
        guard abs(share) < absurd else { return unknown }
        let size = abs(share)
        let text = decimal(size * 100, size < 0.000_995 ? 2 : size < 0.995 ? 1 : 0)
        return (share < 0 ? "−" : "+") + text + " %"
    }

    /// "12.4 %"
    static func share(_ share: Double) -> String { decimal(share * 100, 1) + " %" }

    /// "95 %", "97.8 %": how sure something is. Nothing is rounded up to certainty.
    static func confidence(_ share: Double) -> String {
        let tenths = (share * 1000).rounded(.down)
        return decimal(tenths / 10, (tenths / 10) == (tenths / 10).rounded() ? 0 : 1) + " %"
    }

    /// Rounded, with groups of three digits before the point. What is no number, or far beyond all
    /// figures, is not known.
    static func decimal(_ value: Double, _ decimals: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<min(max(0, decimals), 6) { scale *= 10 }
        let scaled = (abs(value) * Double(scale)).rounded()
        guard scaled < 1e18 else { return unknown }
        let whole = Int64(scaled)
        var text = Numbers.grouped(whole / scale)
        if scale > 1 {
            let fraction = String(whole % scale)
            let zeros = String(scale).utf8.count - 1 - fraction.utf8.count
            text += "." + String(repeating: "0", count: zeros) + fraction
        }
        return (value < 0 && whole > 0 ? "−" : "") + text
    }

    /// How many decimals a round number needs, at most six.
    static func decimals(of step: Double) -> Int {
        var (scaled, decimals) = (abs(step), 0)
        while decimals < 6, abs(scaled - scaled.rounded()) > 1e-6 * max(1, scaled) {
            scaled *= 10
            decimals += 1
        }
        return decimals
    }
}
