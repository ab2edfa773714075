/// The rows of one chunk. Columns of each kind have lists of their own, so that a value can be fetched
/// without anything else being copied or counted: there are millions of them.
final class UnpackedChunk {
    let rows: Int
    // By column, `id` being the first; empty for those of another kind. Constants: at each access to
    // a variable of an object, Swift would see to it that no other goes on.
    private let numbers: [[Int64]]
    /// Empty, too, where no number is NULL.
    private let nulls: [[Bool]]
    private let texts: [[String?]]
    private let blobs: [[[UInt8]?]]

    /// nil: these are no such bytes.
    init?(_ table: Schema.Table, rows: Int, _ bytes: [UInt8]) {
        var reader = LEB128Reader(bytes)
        var columns: [UnpackedColumn] = []
        for kind in [.integer] + table.columns.map({ ColumnKind($0.type) }) {
            guard let column = UnpackedColumn(kind, rows: rows, &reader) else { return nil }
            columns.append(column)
        }
        guard reader.isAtEnd else { return nil }
        for (column, base) in table.bases {
            guard let sum = columns[column].adding(columns[base]) else { return nil }
            columns[column] = sum
        }
        self.rows = rows
        numbers = columns.map(\.numbers)
        nulls = columns.map(\.nulls)
        texts = columns.map(\.texts)
        blobs = columns.map(\.blobs)
    }

    /// nil: it is NULL, or no integer.
    func integer(_ column: Int, _ row: Int) -> Int64? {
        guard !numbers[column].isEmpty, nulls[column].isEmpty || !nulls[column][row] else {
            return nil
        }
        return numbers[column][row]
    }

    func isNull(_ column: Int, _ row: Int) -> Bool {
        if !numbers[column].isEmpty { return !nulls[column].isEmpty && nulls[column][row] }
        if !texts[column].isEmpty { return texts[column][row] == nil }
        return blobs[column][row] == nil
    }

    func text(_ column: Int, _ row: Int) -> String? {
        texts[column].isEmpty ? nil : texts[column][row]
    }

    func blob(_ column: Int, _ row: Int) -> [UInt8]? {
        blobs[column].isEmpty ? nil : blobs[column][row]
    }
}
