/// Whole numbers in as few bytes as possible: seven bits per byte, the lowest first, the top bit
/// set in all but the last byte.
enum LEB128 {
    static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// Reads bytes from first to last; nil if there are not enough.
struct LEB128Reader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    var left: Int { bytes.count - position }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// A number written by ``LEB128``; nil also if it has more than 64 bits.
    mutating func number() -> UInt64? {
        guard let first = byte() else { return nil }
        if first < 0x80 { return UInt64(first) }
        var result = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while let byte = byte() {
            // The tenth byte has only one bit left.
            guard shift < 63 || shift == 63 && byte <= 1 else { return nil }
            result |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
        return nil
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard 0...left ~= count else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }
}
