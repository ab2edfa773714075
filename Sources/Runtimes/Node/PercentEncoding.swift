/// How URLs encode characters that they may not contain.
enum PercentEncoding {
    /// Anything else stays unchanged.
    static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = ArraySlice(Array(text.utf8))
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let high = digit(digits.first), let low = digit(digits.last)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case .some(let byte) where 0x30...0x39 ~= byte: byte - 0x30
        case .some(let byte) where 0x41...0x46 ~= byte: byte - 0x41 + 10
        case .some(let byte) where 0x61...0x66 ~= byte: byte - 0x61 + 10
        default: nil
        }
    }
}
