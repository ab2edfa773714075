/// Rows in ClickHouse's format RowBinary: the values in the order of the columns, without separators.
struct RowBinaryWriter: Sendable {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ value: Double) { add(value.bitPattern) }

    mutating func add(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func add(_ text: some StringProtocol) {
        addLength(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    /// NULL, or a value.
    mutating func add<Value>(_ value: Value?, _ body: (inout Self, Value) -> Void) {
        bytes.append(value == nil ? 1 : 0)
        if let value { body(&self, value) }
    }

    mutating func add(_ value: String?) { add(value) { $0.add($1) } }

    mutating func add(_ value: Int64?) { add(value) { $0.add($1) } }

    mutating func add<Element>(
        _ list: some Collection<Element>, _ body: (inout Self, Element) -> Void
    ) {
        addLength(list.count)
        for element in list { body(&self, element) }
    }

    /// Seven bits per byte, the lowest first.
    private mutating func addLength(_ length: Int) {
        var rest = UInt64(length.magnitude)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
