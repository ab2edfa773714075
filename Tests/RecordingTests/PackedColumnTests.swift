import ProfileModel
import TestSupport
import Testing

@testable import Recording

@Suite struct PackedColumnTests {
    private func integers(_ values: [Int64?]) -> [UInt8] {
        var column = PackedColumn()
        for value in values {
            if let value { column.append(value) } else { column.appendNull() }
        }
        return column.bytes
    }

    private func texts(_ values: [String?]) -> [UInt8] {
        var column = PackedColumn()
        for value in values {
            if let value { column.append(value) } else { column.appendNull() }
        }
        return column.bytes
    }

    private func readIntegers(_ bytes: [UInt8], _ rows: Int) -> [Int64?]? {
        var reader = LEB128Reader(bytes)
        guard
            case .integers(let values, let nulls)? = UnpackedColumn(
                .integer, rows: rows, &reader), reader.isAtEnd
        else { return nil }
        return values.indices.map { nulls.isEmpty || !nulls[$0] ? values[$0] : nil }
    }

    private func readTexts(_ bytes: [UInt8], _ rows: Int) -> [String?]? {
        var reader = LEB128Reader(bytes)
        guard case .texts(let values)? = UnpackedColumn(.text, rows: rows, &reader), reader.isAtEnd
        else { return nil }
        return values
    }

    @Test func theBytes() {
        // 5 is 5 more than 0, 2 × 5 + 2; nothing; 3 is 2 less than 5, 2 × 2 - 1 + 2; 3 again; 103.
        #expect(integers([5, nil, 3, 3, 103]) == [12, 0, 5, 2, 0xCA, 1])
        #expect(texts(["ab", nil, "c", "ab", "c"]) == [1, 2, 97, 98, 0, 1, 1, 99, 2, 3])
        var blobs = PackedColumn()
        blobs.append([7, 8] as [UInt8])
        blobs.append([] as [UInt8])
        blobs.appendNull()
        #expect(blobs.bytes == [3, 7, 8, 1, 0])
    }

    @Test func farValues() {
        let values: [Int64?] = [
            .max, .min, 0, .min, .max, nil, -1, .min + 1, 1, .max - 1, .min, .min,
        ]
        #expect(readIntegers(integers(values), values.count) == values)
        // Half of all numbers away: there is no smaller way to say it than to say it.
        #expect(integers([.min]).first == 1 && integers([.min]).count == 9)
    }

    @Test(arguments: 1...200) func anyValues(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let values: [Int64?] = (0..<300).map { _ in
            switch Int.random(in: 0..<5, using: &random) {
            case 0: nil
            case 1: Int64.random(in: .min ... .max, using: &random)
            case 2: Int64.random(in: -3...3, using: &random)
            case 3: Int64.min + Int64.random(in: 0...2, using: &random)
            default: Int64.random(in: 0..<1 << 40, using: &random)
            }
        }
        #expect(readIntegers(integers(values), values.count) == values)
        let words: [String?] = (0..<100).map { _ in
            let length = Int.random(in: 0...5, using: &random) * 1000
            let letter = ["a", "é", "漢"].randomElement(using: &random) ?? ""
            return length == 5000 ? nil : String(repeating: letter, count: length)
        }
        #expect(readTexts(texts(words), words.count) == words)
    }

    /// A long text is not to be had often for little.
    @Test func longTextsAreNotShared() {
        let text = String(repeating: "x", count: PackedColumn.longestShared + 1)
        #expect(texts([text, text]).count > 2 * text.utf8.count)
        #expect(readTexts(texts([text, "a", text, "a"]), 4) == [text, "a", text, "a"])
    }

    @Test(
        arguments: [
            [], [0x80], [1], [1, 1, 2, 3], [1, 0, 0, 0, 0, 0, 0, 0],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
        ] as [[UInt8]]) func noIntegers(bytes: [UInt8])
    {
        #expect(readIntegers(bytes, 1) == nil)
    }

    @Test(
        arguments: [
            [], [1], [1, 2, 97], [2], [1, 1, 0xFF],
            [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
        ] as [[UInt8]]) func noTexts(bytes: [UInt8])
    {
        #expect(readTexts(bytes, 1) == nil)
    }

    /// Two spellings of a letter are two texts.
    @Test func textsAreTheirBytes() throws {
        let words = ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}"]
        #expect(words[0] == words[1])
        let read = try #require(readTexts(texts(words), 3))
        #expect(read.map { Array(($0 ?? "").utf8) } == words.map { Array($0.utf8) })
    }

    @Test func noMoreRowsThanBytes() {
        #expect(readIntegers([0, 0, 0], 4) == nil && readIntegers([0, 0, 0], -1) == nil)
        #expect(
            readIntegers([0, 0, 0], 2) == nil && readIntegers([0, 0, 0], 3) == [nil, nil, nil])
        #expect(readIntegers([], .max) == nil)
    }

    /// Whatever bytes: an answer or none, and it stays within them.
    @Test(arguments: 1...300) func anyBytes(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let bytes = (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &random) & 0x8F }
        for kind in [ColumnKind.integer, .text, .blob] {
            var reader = LEB128Reader(bytes)
            _ = UnpackedColumn(kind, rows: Int.random(in: 0...70, using: &random), &reader)
            #expect(reader.left >= 0)
        }
    }
}
