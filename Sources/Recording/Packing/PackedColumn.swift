/// The values of one column that wait to be written, in the bytes that a file has of them. Each value
/// is a number:
///
/// - integers: 0 is NULL; 1 means that eight bytes follow, the value as it is, the lowest first;
///   everything else is two more than the difference to the last value of the column that was not
///   NULL (0 before the first), as twice the difference, or for one below zero twice its amount
///   less one;
/// - texts: 0 is NULL; 1 means that a text follows, its length in bytes and its UTF-8; everything
///   else is two more than the place of an earlier text among those of the column in this chunk that
///   are no longer than ``longestShared``;
/// - blobs: 0 is NULL; everything else is one more than the length, and the bytes follow.
struct PackedColumn {
    /// In bytes. A longer text is written each time: so a small file cannot stand for much text.
    static let longestShared = 4096

    private(set) var bytes: [UInt8] = []
    private var last: Int64 = 0
    private var texts: [ExactText: UInt64] = [:]

    mutating func appendNull() { bytes.append(0) }

    mutating func append(_ value: Int64) {
        let difference = value &- last
        last = value
        // The lowest bit is the sign: small amounts are small numbers.
        let folded = UInt64(bitPattern: (difference << 1) ^ (difference >> 63))
        guard folded <= UInt64.max - 2 else {
            bytes.append(1)
            withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
            return
        }
        LEB128.append(folded + 2, to: &bytes)
    }

    mutating func append(_ text: String) {
        let key = ExactText(text)
        if let known = texts[key] { return LEB128.append(known + 2, to: &bytes) }
        let length = text.utf8.count
        if length <= Self.longestShared { texts[key] = UInt64(texts.count) }
        bytes.append(1)
        LEB128.append(UInt64(length), to: &bytes)
        bytes += text.utf8
    }

    mutating func append(_ blob: [UInt8]) {
        LEB128.append(UInt64(blob.count) + 1, to: &bytes)
        bytes += blob
    }

    /// Forgets everything, but keeps the room.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        last = 0
    }
}

/// The values of one column of a chunk.
enum UnpackedColumn {
    /// - Parameter nulls: empty where there is none.
    case integers([Int64], nulls: [Bool])
    case texts([String?])
    case blobs([[UInt8]?])

    /// nil: these are no such bytes. Every value takes at least one byte, so that nothing is made
    /// for a number of rows that cannot be.
    init?(_ kind: ColumnKind, rows: Int, _ cursor: inout ByteCursor) {
        guard 0...cursor.left ~= rows else { return nil }
        let found: UnpackedColumn? =
            switch kind {
            case .integer: Self.integers(rows, &cursor)
            case .text: Self.texts(rows, &cursor)
            case .blob: Self.blobs(rows, &cursor)
            }
        guard let column = found else { return nil }
        self = column
    }

    /// The sums with another column's values, NULL counting as 0; nil: they are no integers.
    func adding(_ base: UnpackedColumn) -> UnpackedColumn? {
        guard case .integers(let values, let nulls) = self,
            case .integers(let others, let otherNulls) = base, values.count == others.count
        else { return nil }
        let sums = values.indices.map { row in
            values[row] &+ (otherNulls.isEmpty || !otherNulls[row] ? others[row] : 0)
        }
        return .integers(sums, nulls: nulls)
    }

    private static func integers(_ rows: Int, _ cursor: inout ByteCursor) -> UnpackedColumn? {
        var values: [Int64] = []
        values.reserveCapacity(rows)
        var nulls: [Bool] = []
        var last: Int64 = 0
        for row in 0..<rows {
            guard let number = cursor.number() else { return nil }
            switch number {
            case 0:
                if nulls.isEmpty { nulls = [Bool](repeating: false, count: rows) }
                nulls[row] = true
            case 1:
                guard let bytes = cursor.take(8) else { return nil }
                last = bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
            default:
                let folded = number - 2
                last &+= Int64(bitPattern: folded >> 1) ^ -Int64(folded & 1)
            }
            values.append(last)
        }
        return .integers(values, nulls: nulls)
    }

    private static func texts(_ rows: Int, _ cursor: inout ByteCursor) -> UnpackedColumn? {
        var values: [String?] = []
        values.reserveCapacity(rows)
        var shared: [String] = []
        for _ in 0..<rows {
            guard let number = cursor.number() else { return nil }
            switch number {
            case 0: values.append(nil)
            case 1:
                guard let length = cursor.number().flatMap({ Int(exactly: $0) }),
                    let bytes = cursor.take(length),
                    let text = String(validating: bytes, as: UTF8.self)
                else { return nil }
                if length <= PackedColumn.longestShared { shared.append(text) }
                values.append(text)
            default:
                guard number - 2 < UInt64(shared.count) else { return nil }
                values.append(shared[Int(number - 2)])
            }
        }
        return .texts(values)
    }

    private static func blobs(_ rows: Int, _ cursor: inout ByteCursor) -> UnpackedColumn? {
        var values: [[UInt8]?] = []
        values.reserveCapacity(rows)
        for _ in 0..<rows {
            guard let number = cursor.number() else { return nil }
            guard number > 0 else {
                values.append(nil)
                continue
            }
            guard let length = Int(exactly: number - 1), let bytes = cursor.take(length) else {
                return nil
            }
            values.append(Array(bytes))
        }
        return .blobs(values)
    }
}
