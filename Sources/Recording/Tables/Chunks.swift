/// Packed rows of the other tables, see ``PackedRows``. ``ChunkReader`` reads them.
enum ChunksTable: Int32, Table {
    case table = 1, rows, size, data

    static let tableName = "chunks"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .table: .text("name")
        case .rows: .integer("rows")
        case .size: .integer("size")
        case .data: .blob("data")
        }
    }

    static func write(
        _ chunk: (table: String, rows: Int, size: Int, data: [UInt8]),
        to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.table, chunk.table)
        try row.set(.rows, chunk.rows)
        try row.set(.size, chunk.size)
        try row.set(.data, chunk.data)
    }
}
