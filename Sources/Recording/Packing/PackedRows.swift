/// Rows of one table on their way into the file: column by column, as a chunk each time when there are
/// many, and at every commit. A slice takes some 13 bytes so, where a row took 32.
final class PackedRows: RowTarget {
    private let table: Schema.Table
    private let chunks: ChunkWriter
    private var columns: [PackedColumn]
    /// Of the row at hand, the columns that others are written from.
    private var row: [Int64]
    private let isBase: [Bool]
    private var rows = 0
    /// Of all columns together, in bytes.
    private var size = 0

    /// In bytes. More would hardly be smaller, and have to be in memory at once.
    private static let usualSize = 64 << 10

    init(_ table: Schema.Table, _ chunks: ChunkWriter) {
        self.table = table
        self.chunks = chunks
        // And the id.
        columns = table.columns.map { _ in PackedColumn() } + [PackedColumn()]
        row = columns.map { _ in 0 }
        isBase = columns.indices.map { table.bases.values.contains($0) }
    }

    func bind(_ index: Int32, _ value: Int64?) throws(SQLiteFailure) {
        let column = Int(index) - 1
        if isBase[column] { row[column] = value ?? 0 }
        // A base stands before those that are written from it.
        let base = table.bases[column].map { row[$0] } ?? 0
        change(index) { column in value.map { column.append($0 &- base) } ?? column.appendNull() }
    }

    func bind(_ index: Int32, _ value: String?) throws(SQLiteFailure) {
        change(index) { column in value.map { column.append($0) } ?? column.appendNull() }
    }

    func bind(_ index: Int32, _ value: [UInt8]) throws(SQLiteFailure) {
        change(index) { $0.append(value) }
    }

    private func change(_ index: Int32, _ body: (inout PackedColumn) -> Void) {
        let column = Int(index) - 1
        let before = columns[column].bytes.count
        body(&columns[column])
        size += columns[column].bytes.count - before
    }

    func run() throws(SQLiteFailure) {
        rows += 1
        if size > Self.usualSize { try flush() }
    }

    /// Writes what waits.
    func flush() throws(SQLiteFailure) {
        guard rows > 0 else { return }
        try chunks.write(table.name, rows: rows, columns.flatMap(\.bytes))
        for index in columns.indices { columns[index].removeAll() }
        (rows, size) = (0, 0)
    }
}
