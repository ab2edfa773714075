import Exports
import ProfileModel

/// Numbers with decimals, as all reports of a measurement write them.
extension Numbers {
    /// The word for an unknown figure.
    static let unknown = "unknown"
    /// No figure is as large.
    static let absurd = 1e17

    /// "42.31 ms": with four digits, because such a figure is more precise than a profile's time.
    static func measured(_ span: TimeSpan) -> String {
        Quantity.time.text(Double(span.nanoseconds))
    }

    /// "1 launch", "20 launches"
    package static func launches(_ count: Int) -> String {
        "\(grouped(count)) launch\(count == 1 ? "" : "es")"
    }

    /// "+3.1 %", "-0.04 %": a change, given as a fraction.
    static func change(_ share: Double) -> String {
        guard abs(share) < absurd else { return unknown }
        guard share != 0 else { return "0 %" }
        let size = abs(share)
        let text = decimal(share * 100, size < 0.000_995 ? 2 : size < 0.995 ? 1 : 0)
        // A decrease that rounds to zero has no sign, either.
        return (share > 0.000_05 ? "+" : "") + text + " %"
    }

    /// "12.4 %", without a sign.
    static func share(_ share: Double) -> String {
        let text = decimal(abs(share) * 100, 1)
        return text == unknown ? text : text + " %"
    }

    /// "95 %", "97.8 %": a confidence. It is never rounded up to certainty.
    static func confidence(_ share: Double) -> String {
        let tenths = (share * 1000).rounded(.down)
        let text = decimal(tenths / 10, tenths / 10 == (tenths / 10).rounded() ? 0 : 1)
        return text == unknown ? text : text + " %"
    }

    /// "3.40 GHz", "800 MHz"
    static func clock(kilohertz: Int64) -> String {
        kilohertz < 999_995
            ? "\(grouped(kilohertz / 1_000)) MHz" : decimal(Double(kilohertz) / 1e6, 2) + " GHz"
    }

    /// Rounded, with groups of three digits before the point. "unknown" if it is not a number, or
    /// absurdly large.
    static func decimal(_ value: Double, _ decimals: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<min(max(0, decimals), 6) { scale *= 10 }
        let scaled = (abs(value) * Double(scale)).rounded()
        guard scaled < 1e18 else { return unknown }
        let whole = Int64(scaled)
        var text = grouped(whole / scale)
        if scale > 1 {
            let fraction = String(whole % scale)
            let zeros = String(scale).utf8.count - 1 - fraction.utf8.count
            text += "." + String(repeating: "0", count: zeros) + fraction
        }
        return (value < 0 && whole > 0 ? "-" : "") + text
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
