/// Bytes as text (RFC 4648, with padding).
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for digit in 0..<4 as Range<Int> {
                let isPadding = digit > group.count
                let value = Int(bits >> UInt32(18 - 6 * digit) & 63)
                result.append(isPadding ? UInt8(ascii: "=") : alphabet[value])
            }
            index += 3
        }
        return result
    }
}
