import CSQLite

/// Writes chunks into a file, whatever tables they are of.
final class ChunkWriter {
    private let insertion: Statement
    private var next: Int

    /// - Parameter next: the first id that no chunk has.
    init(_ database: Database, next: Int = 0) throws(RecordingError) {
        insertion = try database.prepare(Schema.chunks.insertion)
        self.next = next
    }

    func write(_ table: String, rows: Int, _ bytes: [UInt8]) throws(SQLiteFailure) {
        // No reader would take it.
        guard bytes.count <= Chunk.largest else { throw SQLiteFailure(code: SQLITE_TOOBIG) }
        try insertion.bind(1, next)
        try insertion.bind(2, table)
        try insertion.bind(3, rows)
        try insertion.bind(4, bytes.count)
        try insertion.bind(5, Chunk.packed(bytes))
        try insertion.run()
        next += 1
    }
}
