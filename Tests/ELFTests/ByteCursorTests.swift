import ELF
import TestSupport
import Testing

@Suite struct ByteCursorTests {
    private func read<Value>(
        _ bytes: [UInt8], from position: Int = 0, to end: Int? = nil,
        _ body: (inout ByteCursor) -> Value
    ) -> Value {
        bytes.withUnsafeBytes {
            var cursor = ByteCursor($0, at: position, end: end)
            return body(&cursor)
        }
    }

    @Test func numbersOfEachSize() {
        read([1, 2, 3, 4, 5, 6, 7, 8, 9]) { cursor in
            #expect(cursor.number(UInt16.self) == 0x0201)
            #expect(cursor.number(size: 3) == 0x05_0403)
            #expect(cursor.number(UInt32.self) == 0x0908_0706)
            #expect(cursor.isAtEnd && !cursor.isBroken)
        }
    }

    /// Past the end all is 0, and stays so.
    @Test func bytesPastTheEndAreZero() {
        read([0xFF, 0xFF, 0xFF]) { cursor in
            #expect(cursor.number(UInt32.self) == 0)
            #expect(cursor.isBroken && cursor.isAtEnd && cursor.position == 3)
            #expect(cursor.byte() == 0 && cursor.unsigned() == 0 && cursor.signed() == 0)
        }
        for size in [-1, 9, .max, .min] {
            read([1, 2, 3]) { cursor in
                #expect(cursor.number(size: size) == 0 && cursor.isBroken)
            }
            read([1, 2, 3]) { cursor in
                cursor.skip(size)
                #expect(cursor.isBroken)
            }
            read([1, 2, 3]) { cursor in
                cursor.move(to: size)
                #expect(cursor.isBroken)
            }
            read([1, 2, 3], from: size) { #expect($0.isBroken && $0.byte() == 0) }
        }
        read([1], to: -5) { #expect($0.byte() == 0 && $0.isBroken) }
        read([1], to: 99) { #expect($0.byte() == 1 && $0.isAtEnd && !$0.isBroken) }
        read([]) { #expect($0.text() == 0..<0 && $0.isBroken) }
    }

    @Test func texts() {
        read(Array("ab\0\0c".utf8)) { cursor in
            #expect(cursor.text() == 0..<2 && cursor.text() == 3..<3 && !cursor.isBroken)
            cursor.text()
            #expect(cursor.isBroken)
        }
    }

    @Test func variableLength() {
        var random = SeededNumbers(seed: 1)
        for _ in 0..<20_000 {
            let value = random.next() >> UInt64.random(in: 0..<64, using: &random)
            let signed =
                Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random)
            read(Self.unsigned(value) + Self.signed(signed) + [7]) { cursor in
                #expect(cursor.unsigned() == value && cursor.signed() == signed)
                #expect(cursor.byte() == 7)
            }
        }
        // Longer than any number needs.
        let long = [UInt8](repeating: 0x80, count: 12) + [0, 7]
        read(long) { #expect($0.unsigned() == 0 && $0.byte() == 7) }
        read(long) { #expect($0.signed() == 0 && $0.byte() == 7) }
        read(long) { cursor in
            cursor.skipLEB()
            #expect(cursor.byte() == 7)
        }
        read([0x80, 0x80]) { #expect($0.unsigned() == 0 && $0.isBroken) }
    }

    private static func unsigned(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + unsigned(value >> 7)
    }

    private static func signed(_ value: Int64) -> [UInt8] {
        let byte = UInt8(truncatingIfNeeded: value) & 0x7F
        let isLast = value >> 6 == 0 || value >> 6 == -1
        return isLast ? [byte] : [byte | 0x80] + signed(value >> 7)
    }
}
