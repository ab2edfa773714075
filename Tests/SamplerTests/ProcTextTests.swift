import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct ProcTextTests {
    private static let decimals: [(String, Int64?)] = [
        ("0", 0), ("42", 42), ("  \t42x", 42), ("007", 7), ("", nil), (" ", nil), ("-1", nil),
        ("x", nil), ("9223372036854775807", .max), ("99999999999999999999", nil),
    ]

    @Test(arguments: decimals)
    func decimalNumbers(string: String, expected: Int64?) {
        var reader = text(string)
        #expect(reader.decimal() == expected)
    }

    /// Past what 63 bits hold there is no number, least of all a negative one.
    @Test(arguments: ["9223372036854775808", "9999999999999999999", "18446744073709551615"])
    func decimalNumbersThatDoNotFit(string: String) {
        var reader = text(string)
        #expect(reader.decimal() == nil)
    }

    private static let hexadecimals: [(String, UInt64?)] = [
        ("0", 0), ("0x", nil), ("0x7f", 0x7F), (" DeadBeef-", 0xDEAD_BEEF),
        ("ffffffffffffffff", .max), ("0xffffffffffffffff", .max), ("10000000000000000", nil),
        ("", nil), ("g", nil), ("x1", nil), ("-1", nil),
    ]

    @Test(arguments: hexadecimals)
    func hexadecimalNumbers(string: String, expected: UInt64?) {
        var reader = text(string)
        #expect(reader.hexadecimal() == expected)
    }

    @Test func numbersFollowEachOther() {
        var reader = text("12 0xab 3\n4")
        #expect(reader.decimal() == 12)
        #expect(reader.hexadecimal() == 0xAB)
        #expect(reader.decimal() == 3)
        #expect(reader.decimal() == nil)
        #expect(!reader.isAtEnd)
    }

    @Test func linesAreFoundAtTheirStartOnly() {
        var reader = text("nonvoluntary: 1\n voluntary: 2\nvoluntary: 3\n")
        #expect(reader.skip(toLine: "voluntary:") == true)
        #expect(reader.decimal() == 3)
        #expect(reader.skip(toLine: "voluntary:") == false)
        #expect(reader.isAtEnd)
    }

    @Test func bytesAreSkipped() {
        var reader = text("a)b)c")
        #expect(reader.skip(past: UInt8(ascii: ")")) == true)
        #expect(reader.peek() == UInt8(ascii: "b"))
        #expect(reader.skip(pastLast: UInt8(ascii: ")")) == true)
        #expect(reader.peek() == UInt8(ascii: "c"))
        #expect(reader.skip(pastLast: UInt8(ascii: ")")) == false)
        #expect(reader.peek() == UInt8(ascii: "c"))
        #expect(reader.skip(past: UInt8(ascii: ")")) == false)
        #expect(reader.isAtEnd)
        reader.advance()
        #expect(reader.peek() == nil)
    }

    @Test func wordsEndAtBlanks() {
        var reader = text("one two\tthree 4")
        reader.skipWords(3)
        #expect(reader.decimal() == 4)
        reader.skipWords(5)
        #expect(reader.isAtEnd)
    }

    @Test func theRestOfALineEndsThere() {
        var reader = text("a b\nc")
        #expect(reader.restOfLine() == "a b")
        #expect(reader.restOfLine() == "")
        reader.advance()
        #expect(reader.restOfLine() == "c")
        var invalid = ProcText([0xFF, 0x41])
        #expect(invalid.restOfLine() == "\u{FFFD}A")
    }

    @Test func onlyTheFilledPartOfABufferIsText() {
        let bytes = Array("12 345\n".utf8)
        var reader = ProcText(bytes, count: 4)
        #expect(reader.decimal() == 12)
        #expect(reader.decimal() == 3)
        #expect(reader.decimal() == nil)
        var whole = ProcText(bytes, count: 1000)
        whole.skipWords(2)
        whole.advance()
        #expect(whole.isAtEnd)
    }
}
