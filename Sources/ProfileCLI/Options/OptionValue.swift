package import ProfileModel

/// A value of an option, checked by its ``ValueKind``.
package enum OptionValue: Hashable, Sendable {
    /// The option has no value; it was given.
    case given
    case text(String)
    case integer(Int)
    case percent(Double)
    case duration(TimeSpan)
}

/// The values that an option allows.
package enum ValueKind: Hashable, Sendable {
    /// None: the option is a switch.
    case none
    /// Any text but the empty one.
    case text
    case integer(ClosedRange<Int>)
    /// 0 to 100, with or without a fraction and a percent sign.
    case percent
    case duration
    /// In bytes.
    case size
    /// One of these words.
    case choice([String])
    /// No value, or one of these words after a `=`.
    case optional([String])

    /// True if the next word is the value, unless a value follows a `=`.
    var takesNextWord: Bool {
        switch self {
        case .none, .optional: false
        case .text, .integer, .percent, .duration, .size, .choice: true
        }
    }

    /// The value of `text`; nil if it is not of this kind.
    package func value(of text: String) -> OptionValue? {
        switch self {
        case .none: nil
        case .text: text.isEmpty ? nil : .text(text)
        case .integer(let range): decimal(text).flatMap { range ~= $0 ? .integer($0) : nil }
        case .percent: percent(text).map(OptionValue.percent)
        case .duration: DurationArgument.parse(text).map(OptionValue.duration)
        case .size: SizeArgument.parse(text).map(OptionValue.integer)
        case .choice(let words), .optional(let words): words.contains(text) ? .text(text) : nil
        }
    }

    /// The probable meaning of a value without a unit; nil: unknown.
    func completion(of text: String) -> String? {
        guard let first = text.utf8.first, 0x30...0x39 ~= first || first == 0x2E else { return nil }
        let units: [String] =
            switch self {
            case .duration: ["s", "ms"]
            case .size: ["MB", "GB"]
            case .none, .text, .integer, .percent, .choice, .optional: []
            }
        let whole = units.map { text + $0 }.filter { value(of: $0) != nil }
        return whole.isEmpty ? nil : whole.joined(separator: " or ")
    }

    /// The words to choose from; nil: any text.
    var words: [String]? {
        switch self {
        case .choice(let words), .optional(let words): words
        case .none, .text, .integer, .percent, .duration, .size: nil
        }
    }

    /// The valid values, for error messages.
    package var expectation: String {
        switch self {
        case .none: "takes no value"
        case .text: "must not be empty"
        case .integer(let range) where range.upperBound == .max:
            "must be a whole number from \(range.lowerBound)"
        case .integer(let range):
            "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .percent: "must be a number from 0 to 100"
        case .duration: "must be a time with its unit, like 250ms, 1.5s or 2m"
        case .size: "must be a size of at least 1 MB with its unit, like 256MB or 2GB"
        case .choice(let words), .optional(let words): "must be " + Self.list(words)
        }
    }

    /// "a, b or c"
    private static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    private func decimal(_ text: String) -> Int? {
        text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(text) : nil
    }

    private func percent(_ text: String) -> Double? {
        let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
        // Double() also accepts "nan", "0x1p3" and "1e2".
        guard digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }),
            let value = Double(digits), 0...100 ~= value
        else { return nil }
        return value
    }
}

/// Sizes in option values: `256MB`, `2GB`, at least 1 MB.
enum SizeArgument {
    /// In powers of ten, as disks are sold.
    private static let units = [("GB", 1_000_000_000), ("MB", 1_000_000)]

    /// In bytes; nil: not a size.
    static func parse(_ text: String) -> Int? {
        for (name, factor) in units where text.hasSuffix(name) {
            let digits = text.dropLast(name.utf8.count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let count = Int(digits), count > 0
            else { return nil }
            let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: factor)
            return isTooLarge ? nil : bytes
        }
        return nil
    }
}

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
