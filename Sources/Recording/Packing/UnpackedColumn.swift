/// The values of one column of a chunk.
enum UnpackedColumn {
    /// - Parameter nulls: empty if no value is NULL.
    case integers([Int64], nulls: [Bool])
    case texts([String?])
    case blobs([[UInt8]?])

    /// nil: the bytes are invalid. Every value takes at least one byte, so an impossible number of
    /// rows allocates nothing.
    init?(_ kind: ColumnKind, rows: Int, _ reader: inout LEB128Reader) {
        guard 0...reader.left ~= rows else { return nil }
        let found: UnpackedColumn? =
            switch kind {
            case .integer: Self.integers(rows, &reader)
            case .text: Self.texts(rows, &reader)
            case .blob: Self.blobs(rows, &reader)
            }
        guard let column = found else { return nil }
        self = column
    }

    var numbers: [Int64] { if case .integers(let values, _) = self { values } else { [] } }
    var nulls: [Bool] { if case .integers(_, let nulls) = self { nulls } else { [] } }
    var texts: [String?] { if case .texts(let values) = self { values } else { [] } }
    var blobs: [[UInt8]?] { if case .blobs(let values) = self { values } else { [] } }

    /// The sums with another column's values, where NULL counts as 0; nil: they are not integers.
    func adding(_ base: UnpackedColumn) -> UnpackedColumn? {
        guard case .integers(let values, let nulls) = self,
            case .integers(let others, let otherNulls) = base, values.count == others.count
        else { return nil }
        let sums = values.indices.map { row in
            values[row] &+ (otherNulls.isEmpty || !otherNulls[row] ? others[row] : 0)
        }
        return .integers(sums, nulls: nulls)
    }

    private static func integers(_ rows: Int, _ reader: inout LEB128Reader) -> UnpackedColumn? {
        var values: [Int64] = []
        values.reserveCapacity(rows)
        var nulls: [Bool] = []
        var last: Int64 = 0
        for row in 0..<rows {
            guard let number = reader.number() else { return nil }
            switch number {
            case 0:
                if nulls.isEmpty { nulls = [Bool](repeating: false, count: rows) }
                nulls[row] = true
            case 1:
                guard let bytes = reader.take(8) else { return nil }
                last = bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
            default:
                let folded = number - 2
                last &+= Int64(bitPattern: folded >> 1) ^ -Int64(folded & 1)
            }
            values.append(last)
        }
        return .integers(values, nulls: nulls)
    }

    private static func texts(_ rows: Int, _ reader: inout LEB128Reader) -> UnpackedColumn? {
        var values: [String?] = []
        values.reserveCapacity(rows)
        var shared: [String] = []
        for _ in 0..<rows {
            guard let number = reader.number() else { return nil }
            switch number {
            case 0: values.append(nil)
            case 1:
                guard let length = reader.number().flatMap({ Int(exactly: $0) }),
                    let bytes = reader.take(length),
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

    private static func blobs(_ rows: Int, _ reader: inout LEB128Reader) -> UnpackedColumn? {
        var values: [[UInt8]?] = []
        values.reserveCapacity(rows)
        for _ in 0..<rows {
            guard let number = reader.number() else { return nil }
            guard number > 0 else {
                values.append(nil)
                continue
            }
            guard let length = Int(exactly: number - 1), let bytes = reader.take(length) else {
                return nil
            }
            values.append(Array(bytes))
        }
        return .blobs(values)
    }
}
