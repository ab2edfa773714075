/// Goes through JSON (RFC 8259) without building anything, however deep it is.
struct JSONScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var current: UInt8? { bytes.indices.contains(position) ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    }

    mutating func skip(prefix: String) {
        if bytes.starts(with: prefix.utf8) { position = prefix.utf8.count }
    }

    /// Takes this character, if it is next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// nil: it is not a string, or has no end; then nothing is consumed.
    mutating func string() -> [UInt8]? {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { return nil }
        let start = position
        position += 1
        var text: [UInt8] = []
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): appendEscape(to: &text)
            default: text.append(byte)
            }
        }
        position = start
        return nil
    }

    private mutating func appendEscape(to text: inout [UInt8]) {
        guard let byte = current else { return }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "u"): text.append(contentsOf: String(character()).utf8)
        default: text.append(byte)
        }
    }

    /// The character that `\u` stands for. An unpaired surrogate becomes U+FFFD.
    private mutating func character() -> Character {
        guard let first = unit() else { return "\u{fffd}" }
        var units = [first]
        let next = bytes.dropFirst(position).prefix(2)
        if UTF16.isLeadSurrogate(first), next.elementsEqual("\\u".utf8) {
            position += 2
            units += unit().map { [$0] } ?? []
        }
        return String(decoding: units, as: UTF16.self).first ?? "\u{fffd}"
    }

    private mutating func unit() -> UInt16? {
        let digits = bytes.dropFirst(position).prefix(4)
        guard digits.count == 4, digits.first != UInt8(ascii: "+"),
            digits.first != UInt8(ascii: "-")
        else { return nil }
        guard let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) else {
            return nil
        }
        position += 4
        return unit
    }

    /// A number, `true`, `false` or `null`.
    mutating func scalar() -> [UInt8]? {
        skipSpace()
        let start = position
        while let byte = current, isOfScalar(byte) { position += 1 }
        return position > start ? Array(bytes[start..<position]) : nil
    }

    private func isOfScalar(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x61...0x7a ~= byte || [0x2b, 0x2d, 0x2e, 0x45].contains(byte)
    }

    /// Brackets are only counted; whether they match does not matter here.
    mutating func skipValue() -> Bool {
        var depth = 0
        repeat {
            skipSpace()
            switch current {
            case nil: return false
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { return false }
                position += 1
            case UInt8(ascii: "\""): guard string() != nil else { return false }
            default: guard scalar() != nil else { return false }
            }
        } while depth > 0
        return depth == 0
    }
}
