/// The CRC-32 of `.gnu_debuglink` (that of zlib: reflected polynomial 0xEDB88320), eight bytes
/// at a time: debug files are large.
struct Checksum {
    /// `tables[n][b]`: the remainder of byte `b` followed by `n` zero bytes.
    private static let tables: [[UInt32]] = {
        var tables = [[UInt32]](repeating: [UInt32](repeating: 0, count: 256), count: 8)
        for byte in 0..<256 {
            var remainder = UInt32(byte)
            for _ in 0..<8 {
                remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1
            }
            tables[0][byte] = remainder
        }
        for index in 1..<8 {
            for byte in 0..<256 {
                let before = tables[index - 1][byte]
                tables[index][byte] = before >> 8 ^ tables[0][Int(before & 0xFF)]
            }
        }
        return tables
    }()

    static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let tables = tables.flatMap { $0 }
        return tables.withUnsafeBufferPointer { tables in
            var remainder = ~UInt32(0)
            var offset = 0
            while let chunk = bytes.number(UInt64.self, at: offset) {
                let mixed = UInt64(littleEndian: chunk) ^ UInt64(remainder)
                remainder = 0
                for index in 0..<8 {
                    let byte = Int(truncatingIfNeeded: mixed >> UInt64(8 * index) & 0xFF)
                    remainder ^= tables[(7 - index) * 256 + byte]
                }
                offset += 8
            }
            while let byte = bytes.number(UInt8.self, at: offset) {
                let index = Int(truncatingIfNeeded: remainder & 0xFF ^ UInt32(byte))
                remainder = remainder >> 8 ^ tables[index]
                offset += 1
            }
            return ~remainder
        }
    }
}
