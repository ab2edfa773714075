/// Packed rows of the other tables, see ``PackedRows``. ``ChunkReader`` reads them.
enum ChunksTable: Table {
    static let tableName = "chunks"
    static let layout = TableLayout(Self.self)

    static var blank: (table: String, rows: Int, size: Int, data: [UInt8]) { ("", 0, 0, []) }

    static func visit<V: ColumnVisitor>(
        _ chunk: inout (table: String, rows: Int, size: Int, data: [UInt8]), by columns: inout V
    ) throws(V.Failure) {
        try columns.text("name", &chunk.table)
        try columns.integer("rows", &chunk.rows)
        try columns.integer("size", &chunk.size)
        try columns.blob("data", &chunk.data)
    }
}
