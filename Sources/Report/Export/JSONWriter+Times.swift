import ProfileModel

extension JSONWriter {
    /// With the nanoseconds as decimals: no binary fraction rounds them.
    mutating func microseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 3) }

    mutating func milliseconds(_ span: TimeSpan) { decimal(span.nanoseconds, digits: 6) }

    private mutating func decimal(_ value: Int64, digits: Int) {
        var text = String(value.magnitude)
        if text.utf8.count <= digits {
            text = String(repeating: "0", count: digits + 1 - text.utf8.count) + text
        }
        text.insert(".", at: text.index(text.endIndex, offsetBy: -digits))
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        number(literal: value < 0 ? "-" + text : text)
    }
}
