extension NetworkCondition {
    /// `airplane`, `none`, a link's name, or `RATE[,DELAY[,LOSS]]` for both directions. Names
    /// ignore case, and the signs between their words ("very-bad-network", "wifi"). Examples:
    /// `780kbit`, `1.5mbit,100ms`, `1mbit,0.5s,10%`, `,100ms` (no limit of the rate).
    package init(parsing text: String) throws(ConditionError) {
        let plain = Self.plain(text)
        if plain == "airplane" || plain == "none" {
            self = .none(name: plain)
        } else if let known = LinkProfile.known.first(where: { Self.plain($0.name) == plain }) {
            self = .link(known)
        } else if let direction = Self.direction(text) {
            self = .link(LinkProfile(name: text, down: direction, up: direction))
        } else {
            throw .badValue(condition: "--network", value: text, expected: Self.expected)
        }
    }

    private static var expected: String {
        let names = LinkProfile.known.map { "'\($0.name)'" }.joined(separator: ", ")
        return "airplane, none, \(names), or RATE[,DELAY[,LOSS]] as in 780kbit,100ms,1%"
    }

    private static func plain(_ text: String) -> String {
        String(text.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "%" })
    }

    private static func direction(_ text: String) -> LinkProfile.Direction? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), parts.contains(where: { !$0.isEmpty }) else {
            return nil
        }
        var direction = LinkProfile.Direction()
        if !parts[0].isEmpty {
            guard let rate = Quantity.value(parts[0], units: rateUnits), rate >= 1000, rate <= 1e11
            else { return nil }
            direction.rate = Int64(rate)
        }
        if parts.count > 1, !parts[1].isEmpty {
            guard let delay = Quantity.value(parts[1], units: delayUnits), delay <= 60_000 else {
                return nil
            }
            direction.delay = delay
        }
        if parts.count > 2, !parts[2].isEmpty {
            guard let loss = Quantity.value(parts[2], units: ["%": 0.01]), loss <= 1 else {
                return nil
            }
            direction.loss = loss
        }
        return direction.isUnlimited ? nil : direction
    }

    /// In bits per second. "bps" is refused, because it means bytes to some tools. So is "4G": the
    /// user would mean mobile networks, and get a fast link.
    private static let rateUnits: [String: Double] = [
        "bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "k": 1e3, "m": 1e6,
    ]
    /// In milliseconds.
    private static let delayUnits: [String: Double] = ["us": 0.001, "ms": 1, "s": 1000]
}

/// Numbers with units.
enum Quantity {
    /// A number such as `12` or `1.5` with one of the units; nil: it is something else. Ignores
    /// case.
    static func value(_ text: Substring, units: [String: Double]) -> Double? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(number.count).lowercased()
        guard let factor = units[unit], let value = Double(number), value.isFinite else {
            return nil
        }
        return value * factor
    }
}
