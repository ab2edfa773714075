/// Writes messages in the wire format of Protocol Buffers: only the parts that ``PprofExport``
/// needs.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    /// Writes a number; zero is left out, since readers take a missing field for zero.
    mutating func field(_ number: Int, _ value: some BinaryInteger) {
        guard value != 0 else { return }
        key(number, wire: 0)
        varint(UInt64(truncatingIfNeeded: value))
    }

    mutating func field(_ number: Int, _ text: String) { field(number, bytes: Array(text.utf8)) }

    /// Writes numbers in one field, including zeros.
    mutating func field(_ number: Int, packed values: [some BinaryInteger]) {
        var packed = ProtobufWriter()
        for value in values { packed.varint(UInt64(truncatingIfNeeded: value)) }
        field(number, bytes: packed.bytes)
    }

    mutating func message(_ number: Int, _ body: (inout ProtobufWriter) -> Void) {
        var message = ProtobufWriter()
        body(&message)
        field(number, bytes: message.bytes)
    }

    private mutating func field(_ number: Int, bytes content: [UInt8]) {
        key(number, wire: 2)
        varint(UInt64(content.count))
        bytes += content
    }

    private mutating func key(_ number: Int, wire: UInt64) { varint(UInt64(number) << 3 | wire) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
