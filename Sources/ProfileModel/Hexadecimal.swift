extension [UInt8] {
    /// Lowercase, two digits a byte.
    package var hex: String {
        reduce(into: "") { result, byte in
            result += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
