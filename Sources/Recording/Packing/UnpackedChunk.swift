/// The rows of one chunk. Each kind of column has its own list, so that reading a value neither
/// copies nor counts references: there are millions of values.
final class UnpackedChunk {
    let rows: Int
    // By column; `id` is the first. Empty for columns of another kind. Constants, because Swift
    // would check each access to a variable of an object for exclusivity.
    private let numbers: [[Int64]]
    /// Empty also if no number is NULL.
    private let nulls: [[Bool]]
    private let texts: [[String?]]
    private let blobs: [[[UInt8]?]]

    /// nil: the bytes are invalid.
    init?(_ layout: TableLayout, rows: Int, _ bytes: [UInt8]) {
        var reader = LEB128Reader(bytes)
        var columns: [UnpackedColumn] = []
        for kind in [.integer] + layout.columns.map(\.kind) {
            guard let column = UnpackedColumn(kind, rows: rows, &reader) else { return nil }
            columns.append(column)
        }
        guard reader.isAtEnd else { return nil }
        for (index, column) in layout.columns.enumerated() {
            guard let base = column.base else { continue }
            guard let sum = columns[index + 1].adding(columns[base]) else { return nil }
            columns[index + 1] = sum
        }
        self.rows = rows
        numbers = columns.map(\.numbers)
        nulls = columns.map(\.nulls)
        texts = columns.map(\.texts)
        blobs = columns.map(\.blobs)
    }

    /// nil: it is NULL, or not an integer.
    func integer(_ column: Int, _ row: Int) -> Int64? {
        guard !numbers[column].isEmpty, nulls[column].isEmpty || !nulls[column][row] else {
            return nil
        }
        return numbers[column][row]
    }

    func isNull(_ column: Int, _ row: Int) -> Bool {
        if !numbers[column].isEmpty { return !nulls[column].isEmpty && nulls[column][row] }
        if !texts[column].isEmpty { return texts[column][row] == nil }
        return blobs[column].isEmpty || blobs[column][row] == nil
    }

    func text(_ column: Int, _ row: Int) -> String? {
        texts[column].isEmpty ? nil : texts[column][row]
    }

    func blob(_ column: Int, _ row: Int) -> [UInt8]? {
        blobs[column].isEmpty ? nil : blobs[column][row]
    }
}
