/// Reads the `mappings` of a source map, a segment at a time, in the order of the generated code.
///
/// Format: ECMA-426, "Mappings structure". Fields are differences, in base 64 with variable length.
struct MappingReader {
    /// A place in the generated code, and its original place. All numbers are 0-based.
    struct Segment: Hashable {
        var line: Int32 = 0
        var column: Int32 = 0
        /// nil: this code has no original.
        var original: Original?
    }
    struct Original: Hashable {
        var source: Int32
        var line: Int32
        var column: Int32
        /// nil: it has no name.
        var name: Int32?
    }

    private var rest: ArraySlice<UInt8>
    private var line: Int32 = 0
    private var column: Int32 = 0
    private var source: Int32 = 0
    private var originalLine: Int32 = 0
    private var originalColumn: Int32 = 0
    private var name: Int32 = 0
    /// True after damage: later numbers count from wrong ones, so they cannot be read.
    private(set) var isDamaged = false

    init(_ mappings: ArraySlice<UInt8>) { rest = mappings }

    /// nil: there are no more, or the rest is damaged.
    mutating func next() -> Segment? {
        while let byte = rest.first, !isDamaged {
            switch byte {
            case UInt8(ascii: ";"):
                rest = rest.dropFirst()
                (line, isDamaged) = line.addingReportingOverflow(1)
                column = 0
            case UInt8(ascii: ","): rest = rest.dropFirst()
            default:
                if let segment = segment() { return segment }
                isDamaged = true
            }
        }
        return nil
    }

    private mutating func segment() -> Segment? {
        guard let column = number(after: column) else { return nil }
        self.column = column
        guard !isAtEnd else { return Segment(line: line, column: column, original: nil) }
        guard let source = number(after: source), let line = number(after: originalLine),
            let originalColumn = number(after: originalColumn)
        else { return nil }
        self.source = source
        self.originalLine = line
        self.originalColumn = originalColumn
        var original = Original(source: source, line: line, column: originalColumn, name: nil)
        if !isAtEnd {
            guard let name = number(after: name) else { return nil }
            self.name = name
            original.name = name
        }
        return isAtEnd ? Segment(line: self.line, column: column, original: original) : nil
    }

    private var isAtEnd: Bool {
        guard let byte = rest.first else { return true }
        return byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";")
    }

    /// Reads a difference. nil: there is none, or the sum is out of range.
    private mutating func number(after value: Int32) -> Int32? {
        guard let difference = number() else { return nil }
        let (sum, overflows) = value.addingReportingOverflow(difference)
        return overflows || sum < 0 ? nil : sum
    }

    /// The lowest bit is the sign; five bits per digit, the lowest first.
    private mutating func number() -> Int32? {
        var bits: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = rest.first, let digit = Base64.digit(byte), shift <= 30 {
            rest = rest.dropFirst()
            bits |= UInt64(digit & 31) << shift
            shift += 5
            guard digit & 32 != 0 else {
                let size = Int64(bits >> 1)
                return Int32(exactly: bits & 1 == 1 ? -size : size)
            }
        }
        return nil
    }
}
