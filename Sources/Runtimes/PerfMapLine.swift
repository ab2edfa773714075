/// A line of `/tmp/perf-PID.map`: `START SIZE NAME`, both numbers in hexadecimal.
package struct PerfMapLine: Hashable, Sendable {
    package var start: UInt64
    package var end: UInt64
    /// The range of its name in the text that contains the line; never empty.
    package var name: Range<Int>

    /// nil: the line is malformed.
    package init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        guard let start = Self.number(&rest), let size = Self.number(&rest), size > 0,
            !rest.isEmpty
        else { return nil }
        let (end, overflows) = start.addingReportingOverflow(size)
        guard !overflows else { return nil }
        (self.start, self.end, name) = (start, end, rest.indices)
    }

    /// Consumes a number and the space after it.
    private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        guard let space = rest.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        var digits = rest[..<space]
        if digits.starts(with: "0x".utf8) { digits = digits.dropFirst(2) }
        // The standard library would accept a sign in a number.
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            digits.count <= 16
        else { return nil }
        rest = rest[(space + 1)...]
        return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
