import CSQLite

/// Where each table's rows are in a file with packed rows.
struct ChunkReader {
    private struct Place {
        var id: Int64
        var rows: Int
        var size: Int
    }

    private let selection: Statement
    private var places: [String: [Place]] = [:]

    init(_ database: Database) throws(ReadFailure) {
        let list: Statement
        do {
            list = try database.prepare("SELECT id, name, rows, size FROM chunks ORDER BY id")
            selection = try database.prepare("SELECT data FROM chunks WHERE id = ?1")
        } catch {
            throw .inconsistency(Self.problem(0, "cannot be read"))
        }
        defer { list.reset() }
        let names = Set(Schema.packed.map { $0.tableName })
        var last: Int64 = -1
        while try TableReader.step(list) {
            // This also ends a table whose pages form a circle.
            guard let id = list.integer(0), last < id, id < Chunk.mostChunks else {
                throw .inconsistency(Self.problem(last, "the next is out of order"))
            }
            last = id
            let name = list.text(1).map { String(decoding: $0, as: UTF8.self) }
            guard let name, names.contains(name),
                let rows = list.integer(2).flatMap({ Int(exactly: $0) }), rows > 0,
                let size = list.integer(3).flatMap({ Int(exactly: $0) }), size >= 0
            else { throw .inconsistency(Self.problem(id, "is not valid")) }
            places[name, default: []].append(Place(id: id, rows: rows, size: size))
        }
    }

    private static func problem(_ id: Int64, _ text: String) -> Inconsistency {
        RowPlace(table: ChunksTable.tableName, row: Int(clamping: id)).problem(text)
    }

    func count(of table: String) -> Int { places[table]?.count ?? 0 }

    /// How many rows to reserve memory for. The file's own numbers are trusted only up to a limit;
    /// longer lists grow while they are read.
    func expectedRows(of table: String) -> Int {
        let places = places[table] ?? []
        return places.reduce(0) { min(Self.mostExpected, $0 + min($1.rows, Self.mostExpected)) }
    }

    private static let mostExpected = 1 << 20

    /// - Parameter position: among the table's chunks, in the order in which they were written.
    /// - Parameter budget: how many bytes may still be read, like ``TableReader/byteBudget``.
    func chunk(
        _ position: Int, of layout: TableLayout, budget: inout Int
    ) throws(ReadFailure) -> UnpackedChunk {
        guard let list = places[layout.name], list.indices.contains(position) else {
            throw .inconsistency(Self.problem(0, "is missing"))
        }
        let place = list[position]
        var bytes: [UInt8]?
        do {
            try selection.bind(1, place.id)
            defer { selection.reset() }
            if try selection.step(), let stored = selection.blob(0), stored.count <= budget {
                budget -= stored.count
                bytes = Chunk.unpacked(stored, size: place.size)
            }
        } catch {
            throw .failure(error)
        }
        guard let chunk = bytes.flatMap({ UnpackedChunk(layout, rows: place.rows, $0) }) else {
            throw .inconsistency(Self.problem(place.id, "its data is not valid"))
        }
        return chunk
    }
}

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
