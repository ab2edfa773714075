private let digits = Array("0123456789abcdef".utf8)

extension Collection<UInt8> {
    /// Lowercase, two digits per byte.
    ///
    /// Written by hand: `String(_:radix:)` looks up conformances on its first use, which takes
    /// longer than everything else when a file is opened.
    package var hex: String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * count)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
