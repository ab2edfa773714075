package import ProfileModel

/// Writes JSON (RFC 8259) piece by piece. It never builds a tree of values, so a large report takes
/// no more memory than its own size. Text is escaped; numbers are integers.
///
/// The caller must alternate `key` and value in objects.
///
/// Functions that write bytes are not inlined: a document has hundreds of fields, and the compiler
/// would spend half a minute on copies of the same code.
package struct JSONWriter {
    /// UTF-8.
    package private(set) var bytes: [UInt8] = []
    package init() {}

    /// True if the next value or key follows another one in the same array or object.
    private var needsComma = false

    package mutating func object(_ body: (inout JSONWriter) -> Void) { nest("{", "}", body) }

    /// An array of values of different kinds.
    package mutating func tuple(_ body: (inout JSONWriter) -> Void) { nest("[", "]", body) }

    /// An array with one element for each of `values`.
    ///
    /// - Parameter inLines: true to put each element on its own line.
    package mutating func array<Element>(
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

    @inline(never)
    package mutating func key(_ name: String) {
        separate()
        quote(name)
        put(":")
        needsComma = false
    }

    @inline(never)
    package mutating func value(_ string: String?) {
        separate()
        if let string { quote(string) } else { put("null") }
    }

    package mutating func value(_ number: (some BinaryInteger)?) {
        separate()
        guard let number else { return put("null") }
        guard let word = Int64(exactly: number) else { return put(String(number)) }
        put(word)
    }

    @inline(never)
    package mutating func value(_ flag: Bool) {
        separate()
        put(flag ? "true" : "false")
    }

    /// A number with `digits` decimals, given as a multiple of the last decimal; trailing zeros are
    /// left out.
    @inline(never)
    package mutating func decimal(_ value: Int64, digits: Int) {
        separate()
        if value < 0 { put("-") }
        let sign = bytes.count
        put(value.magnitude)
        let zeros = digits + 1 - (bytes.count - sign)
        if zeros > 0 { bytes.insert(contentsOf: repeatElement(Self.zero, count: zeros), at: sign) }
        var kept = digits
        while kept > 0, bytes.last == Self.zero {
            bytes.removeLast()
            kept -= 1
        }
        if kept > 0 { bytes.insert(UInt8(ascii: "."), at: bytes.count - kept) }
    }

    package mutating func value(_ span: TimeSpan?) { value(span?.nanoseconds) }

    /// The next value or key starts a line.
    @inline(never)
    package mutating func breakLine() {
        if needsComma { put(",") }
        put("\n")
        needsComma = false
    }

    /// Puts the end of the open object or array on a new line.
    package mutating func endLine() { put("\n") }

    private mutating func nest(
        _ open: String, _ close: String, _ body: (inout JSONWriter) -> Void
    ) {
        separate()
        put(open)
        needsComma = false
        body(&self)
        put(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { put(",") }
        needsComma = true
    }

    // MARK: Bytes

    private static let zero = UInt8(ascii: "0")

    @inline(never)
    private mutating func put(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func put(_ number: Int64) {
        if number < 0 { put("-") }
        put(number.magnitude)
    }

    @inline(never)
    private mutating func put(_ number: UInt64) {
        let start = bytes.count
        var rest = number
        repeat {
            bytes.append(Self.zero + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    @inline(never)
    private mutating func quote(_ string: String) {
        put("\"")
        if string.utf8.allSatisfy({ 0x20..<0x7f ~= $0 && $0 != 0x22 && $0 != 0x5c }) {
            put(string)
        } else {
            for scalar in string.unicodeScalars { quote(scalar) }
        }
        put("\"")
    }

    @inline(never)
    private mutating func quote(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": put("\\\"")
        case "\\": put("\\\\")
        case "\n": put("\\n")
        case "\t": put("\\t")
        default:
            guard scalar.needsEscape else { return put(String(scalar)) }
            for unit in Character(scalar).utf16 {
                let digits = String(unit, radix: 16)
                put("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
            }
        }
    }
}

extension JSONWriter {
    package mutating func field(_ name: String, _ string: String?) {
        key(name)
        value(string)
    }

    package mutating func field(_ name: String, _ number: (some BinaryInteger)?) {
        key(name)
        value(number)
    }

    package mutating func field(_ name: String, _ flag: Bool) {
        key(name)
        value(flag)
    }

    /// null: unknown.
    package mutating func field(_ name: String, known flag: Bool?) {
        key(name)
        if let flag { value(flag) } else { value(String?.none) }
    }

    package mutating func field(_ name: String, _ span: TimeSpan?) {
        key(name)
        value(span)
    }
}

extension JSONWriter {
    /// With the nanoseconds as decimals, so that no binary fraction rounds them.
    package mutating func microseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 3) }

    package mutating func milliseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 6) }
}
