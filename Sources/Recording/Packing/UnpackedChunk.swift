/// The rows of one chunk.
final class UnpackedChunk {
    let rows: Int
    /// `id` being the first.
    let columns: [UnpackedColumn]

    /// nil: these are no such bytes.
    init?(_ table: Schema.Table, rows: Int, _ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        var columns: [UnpackedColumn] = []
        for kind in [.integer] + table.columns.map({ ColumnKind($0.type) }) {
            guard let column = UnpackedColumn(kind, rows: rows, &cursor) else { return nil }
            columns.append(column)
        }
        guard cursor.isAtEnd else { return nil }
        for (column, base) in table.bases {
            guard let sum = columns[column].adding(columns[base]) else { return nil }
            columns[column] = sum
        }
        (self.rows, self.columns) = (rows, columns)
    }

    /// nil: it is NULL, or no integer.
    func integer(_ column: Int, _ row: Int) -> Int64? {
        guard case .integers(let values, let nulls) = columns[column],
            nulls.isEmpty || !nulls[row]
        else { return nil }
        return values[row]
    }

    func isNull(_ column: Int, _ row: Int) -> Bool {
        switch columns[column] {
        case .integers(_, let nulls): !nulls.isEmpty && nulls[row]
        case .texts(let values): values[row] == nil
        case .blobs(let values): values[row] == nil
        }
    }

    func text(_ column: Int, _ row: Int) -> String? {
        guard case .texts(let values) = columns[column] else { return nil }
        return values[row]
    }

    func blob(_ column: Int, _ row: Int) -> [UInt8]? {
        guard case .blobs(let values) = columns[column] else { return nil }
        return values[row]
    }
}
