import ProfileModel

/// Writes JSON (RFC 8259) as it is told, piece by piece: no tree of values is ever built, so that
/// large reports cost their own size only. Text is escaped; numbers are integers.
///
/// Whoever calls it keeps objects to `key` and value in turns.
struct JSONWriter {
    private(set) var text = ""
    /// Whether the next value or key follows another in the same array or object.
    private var needsComma = false

    mutating func object(_ body: (inout JSONWriter) -> Void) { nest("{", "}", body) }

    /// An array of values of several kinds.
    mutating func tuple(_ body: (inout JSONWriter) -> Void) { nest("[", "]", body) }

    /// An array with one element for each of `values`.
    ///
    /// - Parameter inLines: whether each element stands in a line of its own.
    mutating func array<Element>(
        _ values: some Sequence<Element>, inLines: Bool = false,
        _ body: (inout JSONWriter, Element) -> Void
    ) {
        nest("[", inLines ? "\n]" : "]") { writer in
            for value in values {
                if inLines { writer.breakLine() }
                body(&writer, value)
            }
        }
    }

    mutating func key(_ name: String) {
        separate()
        quote(name)
        text += ":"
        needsComma = false
    }

    mutating func value(_ string: String?) {
        separate()
        if let string { quote(string) } else { text += "null" }
    }

    mutating func value(_ number: (some BinaryInteger)?) {
        separate()
        text += number.map { String($0) } ?? "null"
    }

    mutating func value(_ flag: Bool) {
        separate()
        text += flag ? "true" : "false"
    }

    /// - Parameter literal: a number as JSON spells it.
    mutating func number(literal: String) {
        separate()
        text += literal
    }

    mutating func value(_ span: TimeSpan?) { value(span?.nanoseconds) }

    /// The next value or key starts a line.
    mutating func breakLine() {
        if needsComma { text += "," }
        text += "\n"
        needsComma = false
    }

    /// What closes the object or array that is open starts a line.
    mutating func endLine() { text += "\n" }

    private mutating func nest(_ open: String, _ close: String, _ body: (inout JSONWriter) -> Void)
    {
        separate()
        text += open
        needsComma = false
        body(&self)
        text += close
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { text += "," }
        needsComma = true
    }

    private mutating func quote(_ string: String) {
        text += "\""
        if string.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c || $0 >= 0x7f }) {
            for scalar in string.unicodeScalars { quote(scalar) }
        } else {
            text += string
        }
        text += "\""
    }

    private mutating func quote(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\n": text += "\\n"
        case "\t": text += "\\t"
        default:
            guard scalar.needsEscape else {
                text.unicodeScalars.append(scalar)
                return
            }
            for unit in Character(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
    }
}

extension JSONWriter {
    mutating func field(_ name: String, _ string: String?) {
        key(name)
        value(string)
    }

    mutating func field(_ name: String, _ number: (some BinaryInteger)?) {
        key(name)
        value(number)
    }

    mutating func field(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    mutating func field(_ name: String, _ span: TimeSpan?) {
        key(name)
        value(span)
    }
}
