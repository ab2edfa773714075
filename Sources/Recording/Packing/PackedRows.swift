import CSQLite

/// Rows of one table on their way into the file. They are written column by column as a chunk,
/// whenever there are many of them, and at every commit. This way a slice takes some 13 bytes; as a
/// row it took 32.
final class PackedRows: RowTarget {
    let table: String
    private let chunks: ChunkWriter
    /// `id` is the first.
    private var columns: [PackedColumn]
    /// For each column, the one that it is relative to.
    private let bases: [Int?]
    private let isBase: [Bool]
    /// The current row's values that other columns are relative to.
    private var row: [Int64]
    /// All rows, and those that wait.
    private(set) var count = 0
    private var rows = 0
    /// The size of all columns together, in bytes.
    private var size = 0

    /// In bytes. A larger chunk would hardly pack better, and must be in memory at once.
    private static let usualSize = 64 << 10

    init(_ layout: TableLayout, _ chunks: ChunkWriter) {
        table = layout.name
        self.chunks = chunks
        let bases = [nil] + layout.columns.map(\.base)
        self.bases = bases
        isBase = bases.indices.map { bases.contains($0) }
        row = bases.map { _ in 0 }
        columns = bases.map { _ in PackedColumn() }
    }

    func bind(_ index: Int32, _ value: Int64?) throws(SQLiteFailure) {
        let column = Int(index) - 1
        if isBase[column] { row[column] = value ?? 0 }
        // A base comes before the columns that are relative to it.
        let base = bases[column].map { row[$0] } ?? 0
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
        count += 1
        rows += 1
        if size > Self.usualSize { try flush() }
    }

    /// Writes all waiting rows.
    func flush() throws(SQLiteFailure) {
        guard rows > 0 else { return }
        try chunks.write(table, rows: rows, columns.flatMap(\.bytes))
        for index in columns.indices { columns[index].removeAll() }
        (rows, size) = (0, 0)
    }
}

/// Receives a row's values one after another, in the order of the columns; `id` is column 1. Either
/// a statement, or packed rows.
protocol RowTarget {
    func bind(_ index: Int32, _ value: Int64?) throws(SQLiteFailure)
    func bind(_ index: Int32, _ value: String?) throws(SQLiteFailure)
    func bind(_ index: Int32, _ value: [UInt8]) throws(SQLiteFailure)
    /// The row is complete.
    func run() throws(SQLiteFailure)
}

/// Writes chunks of all tables into a file.
final class ChunkWriter {
    private let insertion: Statement
    private var next: Int

    /// - Parameter next: the first unused chunk id.
    init(_ database: Database, next: Int = 0) throws(RecordingError) {
        insertion = try database.prepare(ChunksTable.layout.insertion)
        self.next = next
    }

    func write(_ table: String, rows: Int, _ bytes: [UInt8]) throws(SQLiteFailure) {
        // No reader would accept a larger chunk.
        guard bytes.count <= Chunk.largest else { throw SQLiteFailure(code: SQLITE_TOOBIG) }
        let chunk = (table: table, rows: rows, size: bytes.count, data: Chunk.packed(bytes))
        try insertion.write(chunk, ChunksTable.self, at: next)
        next += 1
    }
}

/// The rows of one table that wait to be written.
struct TableRows<T: Table> {
    let waiting: PackedRows

    init(_ chunks: ChunkWriter) {
        waiting = PackedRows(T.layout, chunks)
    }

    /// How many there are so far, waiting or written.
    var count: Int { waiting.count }

    /// Appends a row, or writes another one in place of an earlier one.
    func write(_ value: T.Value, at id: Int) throws(SQLiteFailure) {
        try waiting.write(value, T.self, at: id)
    }
}
