/// Reads one of `/proc`'s small text files, without allocation. No step leaves the text; malformed
/// content yields nil.
package struct ProcText {
    private let bytes: [UInt8]
    private let length: Int
    private var position = 0

    /// `count`: how many of `bytes` are text; all of them by default.
    package init(_ bytes: [UInt8], count: Int? = nil) {
        self.bytes = bytes
        length = min(count ?? bytes.count, bytes.count)
    }

    package var isAtEnd: Bool { position >= length }

    package mutating func skipSpaces() {
        while position < length, bytes[position] == 0x20 || bytes[position] == 0x09 {
            position += 1
        }
    }

    /// Moves behind the next `byte`; false if there is none.
    @discardableResult
    package mutating func skip(past byte: UInt8) -> Bool {
        while position < length {
            position += 1
            if bytes[position - 1] == byte { return true }
        }
        return false
    }

    /// Moves behind the *last* `byte` of the text; false if there is none.
    package mutating func skip(pastLast byte: UInt8) -> Bool {
        var index = length
        while index > position {
            index -= 1
            if bytes[index] == byte {
                position = index + 1
                return true
            }
        }
        return false
    }

    /// Moves behind the next `prefix` at the start of a line; false if there is none.
    package mutating func skip(toLine prefix: StaticString) -> Bool {
        while position < length {
            if hasPrefix(prefix) {
                position += prefix.utf8CodeUnitCount
                return true
            }
            skip(past: 0x0A)
        }
        return false
    }

    package mutating func skipWords(_ words: Int) {
        for _ in 0..<words {
            skipSpaces()
            while position < length, !isBlank(bytes[position]) { position += 1 }
        }
    }

    package mutating func advance() {
        if position < length { position += 1 }
    }

    package func peek() -> UInt8? { position < length ? bytes[position] : nil }

    /// An unsigned decimal number after optional spaces; nil if it does not fit.
    package mutating func decimal() -> Int64? { unsigned().flatMap { Int64(exactly: $0) } }

    /// As ``decimal()``, with or without a minus sign.
    package mutating func signed() -> Int64? {
        skipSpaces()
        guard peek() == UInt8(ascii: "-") else { return decimal() }
        advance()
        return decimal().map { -$0 }
    }

    /// As ``decimal()``, for numbers that use all 64 bits (inodes).
    package mutating func unsigned() -> UInt64? {
        skipSpaces()
        var value: UInt64 = 0
        var (digits, fits) = (0, true)
        while position < length, bytes[position] >= 0x30, bytes[position] <= 0x39 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(bytes[position] - 0x30))
            value = sum
            fits = fits && !overflow && !carry
            position += 1
            digits += 1
        }
        return digits > 0 && fits ? value : nil
    }

    /// A hexadecimal number after optional spaces, with or without `0x`.
    package mutating func hexadecimal() -> UInt64? {
        skipSpaces()
        if position + 1 < length, bytes[position] == 0x30, bytes[position + 1] == 0x78 {
            position += 2
        }
        var value: UInt64 = 0
        var digits = 0
        while position < length, let digit = hexDigit(bytes[position]) {
            value = value &<< 4 | digit
            position += 1
            digits += 1
        }
        return digits > 0 && digits <= 16 ? value : nil
    }

    /// The rest of the line, without its end.
    package mutating func restOfLine() -> String {
        let start = position
        while position < length, bytes[position] != 0x0A { position += 1 }
        var text: [UInt8] = []
        text.reserveCapacity(position - start)
        for index in start..<position { text.append(bytes[index]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The text before the *last* `byte`; nil if there is none.
    package mutating func rest(upToLast byte: UInt8) -> String? {
        let start = position
        guard skip(pastLast: byte) else { return nil }
        return String(decoding: bytes[start..<(position - 1)], as: UTF8.self)
    }

    private func hasPrefix(_ prefix: StaticString) -> Bool {
        let size = prefix.utf8CodeUnitCount
        guard position + size <= length else { return false }
        for index in 0..<size where bytes[position + index] != prefix.utf8Start[index] {
            return false
        }
        return true
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 }

    private func hexDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x61...0x66: UInt64(byte - 0x61 + 10)
        case 0x41...0x46: UInt64(byte - 0x41 + 10)
        default: nil
        }
    }
}
