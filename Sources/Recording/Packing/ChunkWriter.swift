import CSQLite

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
