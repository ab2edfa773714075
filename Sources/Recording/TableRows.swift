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
