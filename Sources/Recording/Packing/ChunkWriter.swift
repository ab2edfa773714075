import CSQLite

/// Writes chunks of all tables into a file.
final class ChunkWriter {
    private let insertion: Statement
    private var next: Int

    /// - Parameter next: the first unused chunk id.
    init(_ database: Database, next: Int = 0) throws(RecordingError) {
        insertion = try database.prepare(Schema.chunks.insertion)
        self.next = next
    }

    func write(_ table: String, rows: Int, _ bytes: [UInt8]) throws(SQLiteFailure) {
        // No reader would accept it.
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
