import Exports

/// Reads one JSON object (RFC 8259) whose values are texts: enough JSON for a line of a list.
/// Numbers, booleans and null are skipped; objects and arrays are refused.
struct FlatJSON {
    private var rest: Substring.UnicodeScalarView

    struct Failure: Error, Hashable {
        var reason: String
    }

    /// The texts by their names; if a name occurs twice, the last one counts.
    static func texts(in line: Substring) throws(Failure) -> [String: String] {
        var reader = FlatJSON(rest: line.unicodeScalars)
        return try reader.object()
    }

    private mutating func object() throws(Failure) -> [String: String] {
        var result: [String: String] = [:]
        try expect("{")
        skipSpace()
        if !take("}") {
            repeat {
                skipSpace()
                let name = try text()
                try expect(":")
                result[name] = try value()
                skipSpace()
            } while take(",")
            try expect("}")
        }
        skipSpace()
        guard rest.isEmpty else { throw Failure(reason: "there is text after the object") }
        return result
    }

    /// nil: not a text.
    private mutating func value() throws(Failure) -> String? {
        skipSpace()
        switch rest.first {
        case "\"": return try text()
        case "{", "[": throw Failure(reason: "a value is an object or an array")
        default:
            let word = rest.prefix { $0 != "," && $0 != "}" && $0 != " " && $0 != "\t" }
            let isWord = ["true", "false", "null"].contains(String(word))
            guard isWord || Double(String(word)) != nil else {
                throw Failure(reason: "a value is missing or not JSON")
            }
            rest.removeFirst(word.count)
            return nil
        }
    }

    private mutating func text() throws(Failure) -> String {
        guard take("\"") else { throw Failure(reason: "a text in quotes is missing") }
        var result = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(result)
            case "\\": result.append(try escaped())
            default:
                guard scalar.value >= 0x20 else {
                    throw Failure(reason: "a text has a control character")
                }
                result.append(scalar)
            }
        }
        throw Failure(reason: "a text's closing quote is missing")
    }

    /// The character after a backslash.
    private mutating func escaped() throws(Failure) -> Unicode.Scalar {
        switch rest.popFirst() {
        case "\"": return "\""
        case "\\": return "\\"
        case "/": return "/"
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return try unicode()
        default: throw Failure(reason: "a backslash is followed by an unknown letter")
        }
    }

    private mutating func unicode() throws(Failure) -> Unicode.Scalar {
        let first = try fourDigits()
        guard 0xD800..<0xDC00 ~= first else {
            // An unpaired surrogate has no meaning.
            return Unicode.Scalar(first) ?? "\u{FFFD}"
        }
        guard take("\\"), take("u") else { return "\u{FFFD}" }
        let second = try fourDigits()
        guard 0xDC00..<0xE000 ~= second else { return "\u{FFFD}" }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func fourDigits() throws(Failure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let next = rest.popFirst(), next.isASCII,
                let digit = Character(next).hexDigitValue
            else {
                throw Failure(reason: "\\u is not followed by four digits")
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private mutating func skipSpace() {
        while let next = rest.first, [" ", "\t", "\r"].contains(next) { rest.removeFirst() }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func expect(_ scalar: Unicode.Scalar) throws(Failure) {
        skipSpace()
        guard take(scalar) else { throw Failure(reason: "'\(scalar)' is missing") }
    }
}
