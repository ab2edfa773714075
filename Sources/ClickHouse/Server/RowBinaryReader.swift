/// Reads the format of ``RowBinaryWriter``. The server is not trusted: a truncated or oversized
/// answer is an error.
struct RowBinaryReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func integer<Value: FixedWidthInteger>(
        _: Value.Type = Value.self
    ) throws(StoreError) -> Value {
        var value: Value = 0
        for (place, byte) in try take(Value.bitWidth / 8).enumerated() {
            value |= Value(truncatingIfNeeded: byte) << Value(truncatingIfNeeded: 8 * place)
        }
        return value
    }

    /// A count (`UInt64`). Impossible values are errors, so that sums cannot overflow.
    mutating func count(most: UInt64 = 1 << 40) throws(StoreError) -> Int {
        let value = try integer(UInt64.self)
        guard value <= most, let count = Int(exactly: value) else { throw .malformed }
        return count
    }

    mutating func double() throws(StoreError) -> Double {
        Double(bitPattern: try integer(UInt64.self))
    }

    mutating func bool() throws(StoreError) -> Bool { try integer(UInt8.self) != 0 }

    mutating func text() throws(StoreError) -> String {
        String(decoding: try take(try length()), as: UTF8.self)
    }

    mutating func optional<Value>(
        _ body: (inout Self) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        try bool() ? nil : try body(&self)
    }

    mutating func list<Element>(
        _ body: (inout Self) throws(StoreError) -> Element
    ) throws(StoreError) -> [Element] {
        let count = try length()
        // An element has at least one byte.
        guard count <= bytes.count - position else { throw .malformed }
        var result: [Element] = []
        result.reserveCapacity(min(count, 1_024))
        for _ in 0..<count { result.append(try body(&self)) }
        return result
    }

    /// All rows of an answer.
    mutating func rows<Row>(
        _ body: (inout Self) throws(StoreError) -> Row
    ) throws(StoreError) -> [Row] {
        var rows: [Row] = []
        while !isAtEnd { rows.append(try body(&self)) }
        return rows
    }

    private mutating func length() throws(StoreError) -> Int {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            let byte = try integer(UInt8.self)
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                guard let length = Int(exactly: value) else { throw .malformed }
                return length
            }
        }
        throw .malformed
    }

    private mutating func take(_ count: Int) throws(StoreError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - position else { throw .malformed }
        position += count
        return bytes[position - count..<position]
    }
}
