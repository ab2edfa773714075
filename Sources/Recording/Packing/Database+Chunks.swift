import CSQLite

extension Database {
    /// How many rows a table has, for tables whose rows never change.
    func rows(of table: String) throws(RecordingError) -> Int {
        try number(
            hasChunks
                ? "SELECT coalesce(sum(rows), 0) FROM chunks WHERE name = '\(table)'"
                : "SELECT count(*) FROM \(table)")
    }

    /// The first unused chunk id.
    func nextChunk() throws(RecordingError) -> Int {
        let last = try number("SELECT coalesce(max(id), -1) FROM chunks")
        guard last < Chunk.mostChunks else {
            throw .damaged(path: path, detail: "chunks, row \(last): its id is out of range")
        }
        return last + 1
    }

    func delete(rowsOf table: String) throws(RecordingError) {
        try execute(
            hasChunks ? "DELETE FROM chunks WHERE name = '\(table)'" : "DELETE FROM \(table)")
    }

    private func number(_ query: String) throws(RecordingError) -> Int {
        let statement = try prepare(query)
        return try attempt { () throws(SQLiteFailure) in
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0).map { Int(clamping: $0) } ?? 0 : 0
        }
    }
}
