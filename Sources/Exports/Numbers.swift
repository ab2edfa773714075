package import ProfileModel

/// Numbers for people. Nothing here depends on the locale: the same recording gives the same bytes
/// everywhere.
package enum Numbers {
    /// "1,234,567"
    package static func grouped(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var result = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.utf8.count - index).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return result
    }

    /// Three or four figures: "< 1 µs", "45 µs", "1.2 ms", "372.4 ms", "2.13 s".
    package static func time(_ span: TimeSpan) -> String { time(span, secondsDecimals: 2) }

    /// The same to the millisecond: "2.512 s".
    package static func preciseTime(_ span: TimeSpan) -> String { time(span, secondsDecimals: 3) }

    /// In a table, where a missing value is easier to see: "–" for zero.
    package static func cell(_ span: TimeSpan) -> String { span == .zero ? "–" : time(span) }

    /// "14.8 %"; a share that is too small becomes "< 0.1 %", not 0.
    package static func percent(_ part: TimeSpan, of whole: TimeSpan) -> String {
        percent(part.nanoseconds, of: whole.nanoseconds)
    }

    package static func percent(_ part: some BinaryInteger, of whole: some BinaryInteger) -> String
    {
        guard whole > 0, part > 0 else { return "0.0 %" }
        let tenths = nearest(min(Double(part) / Double(whole), 1e12) * 1000)
        return tenths == 0 ? "< 0.1 %" : "\(decimal(tenths, decimals: 1)) %"
    }

    /// "1 kHz", "1.5 kHz", "999 Hz"
    package static func frequency(_ hertz: Int32) -> String {
        guard hertz >= 1000 else { return "\(hertz) Hz" }
        guard !hertz.isMultiple(of: 1000) else { return "\(hertz / 1000) kHz" }
        return hertz.isMultiple(of: 100)
            ? "\(hertz / 1000).\(hertz / 100 % 10) kHz" : "\(grouped(hertz)) Hz"
    }

    /// "512 B", "45.6 MiB"
    package static func bytes(_ count: Int64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        guard count.magnitude >= 1024 else { return "\(count) B" }
        var value = Double(count.magnitude) / 1024
        var unit = 0
        while value >= 1023.95, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return (count < 0 ? "-" : "") + decimal(nearest(value * 10), decimals: 1)
            + " \(units[unit])"
    }

    /// "1 thread", "2 threads"
    package static func count(_ value: some BinaryInteger, _ noun: String) -> String {
        "\(grouped(value)) \(noun)\(value == 1 ? "" : "s")"
    }

    /// "1 launch", "2 launches"
    package static func launches(_ value: some BinaryInteger) -> String {
        "\(grouped(value)) \(value == 1 ? "launch" : "launches")"
    }

    /// "1 library", "2 libraries"
    package static func libraries(_ value: some BinaryInteger) -> String {
        "\(grouped(value)) \(value == 1 ? "library" : "libraries")"
    }

    private static func time(_ span: TimeSpan, secondsDecimals: Int) -> String {
        let sign = span < .zero ? "-" : ""
        let size = span.nanoseconds.magnitude
        // It is not zero, but would round to it.
        if 1..<500 ~= size { return "< 1 µs" }
        let text =
            switch size {
            case 0: "0.0 ms"
            case ..<99_500: "\(rounded(size, to: 1_000)) µs"
            case ..<999_950_000: "\(decimal(rounded(size, to: 100_000), decimals: 1)) ms"
            default:
                secondsDecimals == 2
                    ? "\(decimal(rounded(size, to: 10_000_000), decimals: 2)) s"
                    : "\(decimal(rounded(size, to: 1_000_000), decimals: 3)) s"
            }
        return sign + text
    }

    /// Written by hand: `rounded()` would need the mathematics library. `value` is small and not
    /// negative.
    package static func nearest(_ value: Double) -> UInt64 { UInt64(value + 0.5) }

    private static func rounded(_ value: UInt64, to unit: UInt64) -> UInt64 {
        value / unit + (value % unit >= unit / 2 ? 1 : 0)
    }

    private static let powersOfTen: [UInt64] = [1, 10, 100, 1_000]

    /// `value` is in units of the last decimal, of which there are one to three.
    package static func decimal(_ value: UInt64, decimals: Int) -> String {
        let scale = powersOfTen[decimals]
        let fraction = String(value % scale)
        return grouped(value / scale) + "."
            + String(repeating: "0", count: decimals - fraction.utf8.count) + fraction
    }
}
