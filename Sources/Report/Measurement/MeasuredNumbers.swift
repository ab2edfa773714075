/// Measured figures, to about four places: a median says more than a profile's time.
extension Numbers {
    /// How a time of some size is written: its unit, how many nanoseconds that has, and decimals.
    private struct Scale {
        var unit: String
        var nanoseconds: Double
        var decimals: Int

        init(of size: Double) {
            (unit, nanoseconds, decimals) =
                switch size {
                case ..<99_950: ("µs", 1_000, 1)
                case ..<9_999_500: ("ms", 1_000_000, 3)
                case ..<99_995_000: ("ms", 1_000_000, 2)
                case ..<999_950_000: ("ms", 1_000_000, 1)
                default: ("s", 1_000_000_000, 3)
                }
        }

        func figures(_ nanoseconds: Double) -> String {
            Numbers.decimal(nanoseconds / self.nanoseconds, decimals: decimals)
        }
    }

    /// What a figure is called that is not known.
    static let unknown = "unknown"

    /// "45.3 µs", "1.234 ms", "12.34 ms", "372.4 ms", "2.512 s".
    package static func measuredTime(_ nanoseconds: Double) -> String {
        guard nanoseconds.isFinite else { return unknown }
        let scale = Scale(of: nanoseconds.magnitude)
        return nanoseconds == 0 ? "0 ms" : "\(scale.figures(nanoseconds)) \(scale.unit)"
    }

    /// "370.1 – 375.2 ms": both in the unit of the second.
    package static func measuredTimes(_ low: Double, _ high: Double) -> String {
        guard low.isFinite, high.isFinite else { return unknown }
        let scale = Scale(of: max(low.magnitude, high.magnitude))
        return "\(scale.figures(low)) – \(scale.figures(high)) \(scale.unit)"
    }

    /// "1,234", "1,234.5": a median may lie between two counts.
    package static func measuredCount(_ count: Double) -> String {
        guard count.isFinite else { return unknown }
        let text = decimal(count, decimals: 1)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// "45.6 MiB"
    package static func measuredBytes(_ count: Double) -> String {
        guard count.isFinite else { return unknown }
        // Beyond, it is no count of bytes.
        return bytes(Int64(min(max(count, -9e18), 9e18)))
    }

    /// "1 launch", "20 launches"
    static func launches(_ count: Int) -> String {
        "\(grouped(count)) launch\(count == 1 ? "" : "es")"
    }

    /// "+5.2 %", "-0.8 %".
    package static func change(_ share: Double) -> String {
        guard share.isFinite else { return unknown }
        return (share < 0 ? "" : "+") + decimal(share * 100, decimals: 1) + " %"
    }

    /// "5.2 %", whatever its sign.
    package static func share(_ share: Double) -> String {
        share.isFinite ? decimal(share.magnitude * 100, decimals: 1) + " %" : unknown
    }

    /// "+18.3 ms", "-3.000 ms".
    package static func timeChange(_ nanoseconds: Double) -> String {
        (nanoseconds < 0 ? "" : "+") + measuredTime(nanoseconds)
    }

    /// Of a finite number.
    private static func decimal(_ value: Double, decimals: Int) -> String {
        let scale = [1, 10, 100, 1_000][decimals] as Double
        // Beyond, no figure of ours has any meaning; a conversion would trap.
        let size = nearest(min(value.magnitude * scale, 1e18))
        return (value < 0 && size > 0 ? "-" : "") + decimal(size, decimals: decimals)
    }
}
