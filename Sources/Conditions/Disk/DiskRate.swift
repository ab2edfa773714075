/// The value of `--disk`: the limit for reading from disks, in bytes per second.
package struct DiskRate: Hashable, Sendable {
    package var bytesPerSecond: Int64

    package init(bytesPerSecond: Int64) { self.bytesPerSecond = bytesPerSecond }

    /// `500K`, `1M`, `1.5MiB`, `2MB/s`: K, M and G are powers of 1024, as are KiB, MiB and GiB; KB,
    /// MB and GB are powers of 1000. At least a page per second.
    package init(parsing text: String) throws(ConditionError) {
        let plain = text.hasSuffix("/s") ? text.dropLast(2) : text[...]
        guard let value = Quantity.value(plain, units: Self.units), value >= 4096, value <= 1e15
        else {
            throw .badValue(
                condition: "--disk", value: text,
                expected: "bytes a second, at least 4K, as in 500K, 1M or 1.5MB")
        }
        bytesPerSecond = Int64(value)
    }

    private static let units: [String: Double] = {
        var units: [String: Double] = ["": 1, "b": 1]
        for (power, letter) in ["k", "m", "g"].enumerated() {
            let binary = Double(1 << (10 * (power + 1)))
            let decimal = (0...power).reduce(1.0) { value, _ in value * 1000 }
            units[letter] = binary
            units[letter + "ib"] = binary
            units[letter + "b"] = decimal
        }
        return units
    }()
}
