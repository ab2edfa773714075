package import ProfileModel

/// Times as users write them: `250ms`, `2s`, `1.5s`, `100us`, `1m`.
package enum DurationArgument {
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("ns", 1), ("us", 1_000), ("µs", 1_000), ("μs", 1_000), ("ms", 1_000_000),
        ("s", 1_000_000_000), ("min", 60_000_000_000), ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ]
    /// A year: no launch takes longer, and sums stay far from overflowing.
    private static let longest: Int64 = 365 * 24 * 3_600_000_000_000

    /// nil unless `text` is a decimal number with a unit, longer than 0 and at most a year.
    /// Fractions of a nanosecond are cut off.
    package static func parse(_ text: String) -> TimeSpan? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let name = text[number.endIndex...]
        guard let unit = units.first(where: { $0.name == name })?.nanoseconds else { return nil }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first,
            let whole = first.isEmpty && parts.count == 2 ? 0 : Int64(first),
            let fraction = parts.count == 2 ? fraction(parts[1], of: unit) : 0
        else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        guard !overflow, product <= longest else { return nil }
        let length = product + fraction
        return 1...longest ~= length ? TimeSpan(nanoseconds: length) : nil
    }

    /// The value of the digits after the point; nil if there are none.
    private static func fraction(_ digits: Substring, of unit: Int64) -> Int64? {
        guard !digits.isEmpty else { return nil }
        // 13 digits are enough for the nanoseconds of the largest unit.
        let significant = digits.prefix(13)
        guard let value = Int64(significant) else { return nil }
        let scale = significant.reduce(Int64(1)) { scale, _ in scale * 10 }
        return scale.dividingFullWidth(value.multipliedFullWidth(by: unit)).quotient
    }
}
