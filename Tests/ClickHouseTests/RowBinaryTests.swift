import Testing

@testable import ClickHouse

struct RowBinaryTests {
    @Test func writtenRowsAreReadBack() throws {
        var writer = RowBinaryWriter()
        let long = String(repeating: "ä", count: 300)
        writer.add(UInt64.max)
        writer.add(Int64.min)
        writer.add(1.5)
        writer.add(true)
        writer.add(long)
        writer.add(String?.none)
        writer.add(Int64?.some(-7))
        writer.add([3, 1, 2]) { $0.add(Int32($1)) }
        var reader = RowBinaryReader(writer.bytes)
        #expect(try reader.integer(UInt64.self) == .max)
        #expect(try reader.integer(Int64.self) == .min)
        #expect(try reader.double() == 1.5)
        #expect(try reader.bool())
        #expect(try reader.text() == long)
        #expect(try reader.optional { row throws(StoreError) in try row.text() } == nil)
        #expect(
            try reader.optional { row throws(StoreError) in try row.integer(Int64.self) } == -7)
        #expect(
            try reader.list { row throws(StoreError) in try row.integer(Int32.self) } == [3, 1, 2])
        #expect(reader.isAtEnd)
    }

    @Test func everyCutIsAnError() throws {
        var writer = RowBinaryWriter()
        writer.add("text")
        writer.add([UInt64(1), 2]) { $0.add($1) }
        for length in 0..<writer.bytes.count {
            var reader = RowBinaryReader(Array(writer.bytes.prefix(length)))
            #expect(throws: StoreError.malformed) {
                _ = try reader.text()
                _ = try reader.list { row throws(StoreError) in try row.integer(UInt64.self) }
            }
        }
    }

    /// Sums of counts stay whole numbers.
    @Test func numbersOfThingsHaveABound() throws {
        for value in [0, 1, 1 << 40] as [UInt64] {
            var writer = RowBinaryWriter()
            writer.add(value)
            var reader = RowBinaryReader(writer.bytes)
            #expect(try reader.count() == Int(value))
        }
        for value in [1 << 40 + 1, 1 << 62, .max] as [UInt64] {
            var writer = RowBinaryWriter()
            writer.add(value)
            var reader = RowBinaryReader(writer.bytes)
            #expect(throws: StoreError.malformed) { _ = try reader.count() }
        }
    }

    @Test(arguments: [
        [UInt8](repeating: 0xFF, count: 12),
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ])
    func lengthsThatCannotBe(_ bytes: [UInt8]) {
        var reader = RowBinaryReader(bytes)
        #expect(throws: StoreError.malformed) { _ = try reader.text() }
        reader = RowBinaryReader(bytes)
        #expect(throws: StoreError.malformed) {
            _ = try reader.list { row throws(StoreError) in try row.bool() }
        }
    }
}
