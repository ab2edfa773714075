/// A function of Emacs Lisp that Emacs compiled: `F`, its name in hexadecimal, the name again as far as C takes
/// it, and a number: `F6c6f61642d7468656d65_load_theme_0` (`comp-c-func-name` of comp.el).
struct EmacsName {
    let function: String

    init?(_ symbol: String) {
        let bytes = Array(symbol.utf8)
        guard bytes.first == UInt8(ascii: "F") else { return nil }
        let digits = bytes.dropFirst().prefix { $0 != UInt8(ascii: "_") }
        guard digits.count >= 2, digits.count % 2 == 0, let decoded = Self.decoded(Array(digits))
        else { return nil }
        let rest = bytes.dropFirst(1 + digits.count)
        guard let last = rest.lastIndex(of: UInt8(ascii: "_")), last > rest.startIndex,
            !rest[(last + 1)...].isEmpty, rest[(last + 1)...].allSatisfy(isDecimal),
            // Whoever has this name by chance does not spell it twice.
            rest[(rest.startIndex + 1)..<last].elementsEqual(Self.inC(decoded))
        else { return nil }
        function = decoded
    }

    private static func decoded(_ digits: [UInt8]) -> String? {
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func inC(_ name: String) -> [UInt8] {
        name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }.filter {
            $0 == UInt8(ascii: "_") || isDecimal($0)
                || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
        }
    }
}

/// A function of OCaml: `camlStdlib__List__map_405`.
struct OCamlName {
    let function: String

    init?(_ symbol: String) {
        let prefix = "caml"
        guard symbol.hasPrefix(prefix) else { return nil }
        let name = symbol.dropFirst(prefix.utf8.count)
        // The run-time system's own functions go on in lower case.
        guard let first = name.utf8.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first,
            let last = name.lastIndex(of: "_"), last < name.index(before: name.endIndex),
            name[name.index(after: last)...].utf8.allSatisfy(isDecimal)
        else { return nil }
        let parts = String(name[..<last]).replacing("__", with: ".")
        guard parts.contains(".") else { return nil }
        function = parts
    }
}

private func isDecimal(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
