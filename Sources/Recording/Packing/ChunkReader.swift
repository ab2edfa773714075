import CSQLite

extension Database {
    /// How many rows a table has, of those whose rows never change.
    func rows(of table: Schema.Table) throws(RecordingError) -> Int {
        try number(
            hasChunks
                ? "SELECT coalesce(sum(rows), 0) FROM chunks WHERE name = '\(table.name)'"
                : "SELECT count(*) FROM \(table.name)")
    }

    /// The first id that no chunk has.
    func nextChunk() throws(RecordingError) -> Int {
        let last = try number("SELECT coalesce(max(id), -1) FROM chunks")
        guard last < Chunk.mostChunks else {
            throw .damaged(path: path, detail: "chunks, row \(last): its id is out of range")
        }
        return last + 1
    }

    func delete(chunksOf table: Schema.Table) throws(RecordingError) {
        try execute("DELETE FROM chunks WHERE name = '\(table.name)'")
    }

    private func number(_ query: String) throws(RecordingError) -> Int {
        let statement = try prepare(query)
        return try attempt { () throws(SQLiteFailure) in
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0).map { Int(clamping: $0) } ?? 0 : 0
        }
    }
}

/// The rows of one chunk.
final class UnpackedChunk {
    let rows: Int
    /// `id` being the first.
    let columns: [UnpackedColumn]

    /// nil: these are no such bytes.
    init?(_ table: Schema.Table, rows: Int, _ bytes: [UInt8]) {
        var cursor = ByteCursor(bytes)
        var columns: [UnpackedColumn] = []
        for kind in [.integer] + table.columns.map({ ColumnKind($0.type) }) {
            guard let column = UnpackedColumn(kind, rows: rows, &cursor) else { return nil }
            columns.append(column)
        }
        guard cursor.isAtEnd else { return nil }
        for (column, base) in table.bases {
            guard let sum = columns[column].adding(columns[base]) else { return nil }
            columns[column] = sum
        }
        (self.rows, self.columns) = (rows, columns)
    }

    /// nil: it is NULL, or no integer.
    func integer(_ column: Int, _ row: Int) -> Int64? {
        guard case .integers(let values, let nulls) = columns[column],
            nulls.isEmpty || !nulls[row]
        else { return nil }
        return values[row]
    }

    func isNull(_ column: Int, _ row: Int) -> Bool {
        switch columns[column] {
        case .integers(_, let nulls): !nulls.isEmpty && nulls[row]
        case .texts(let values): values[row] == nil
        case .blobs(let values): values[row] == nil
        }
    }

    func text(_ column: Int, _ row: Int) -> String? {
        guard case .texts(let values) = columns[column] else { return nil }
        return values[row]
    }

    func blob(_ column: Int, _ row: Int) -> [UInt8]? {
        guard case .blobs(let values) = columns[column] else { return nil }
        return values[row]
    }
}

/// Where the rows of each table are in a file of packed ones.
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
        let names = Set(Schema.packed.map(\.name))
        var last: Int64 = -1
        do {
            while try list.step() {
                // A table whose pages run in circles ends here.
                guard let id = list.integer(0), last < id, id < Chunk.mostChunks else {
                    throw ReadFailure.inconsistency(Self.problem(last, "the next is out of order"))
                }
                last = id
                let name = list.text(1).map { String(decoding: $0, as: UTF8.self) }
                guard let name, names.contains(name),
                    let rows = list.integer(2).flatMap({ Int(exactly: $0) }), rows > 0,
                    let size = list.integer(3).flatMap({ Int(exactly: $0) })
                else { throw ReadFailure.inconsistency(Self.problem(id, "is not valid")) }
                places[name, default: []].append(Place(id: id, rows: rows, size: size))
            }
        } catch let failure as SQLiteFailure {
            throw .failure(failure)
        } catch let failure as ReadFailure {
            throw failure
        } catch {
            throw .inconsistency(Self.problem(0, "cannot be read"))
        }
    }

    private static func problem(_ id: Int64, _ text: String) -> Inconsistency {
        Inconsistency(table: Schema.chunks.name, row: Int(clamping: id), problem: text)
    }

    func count(of table: Schema.Table) -> Int { places[table.name]?.count ?? 0 }

    /// - Parameter position: among the table's chunks, in the order in which they were written.
    /// - Parameter budget: how many bytes may still be read, as ``TableReader/byteBudget``.
    func chunk(
        _ position: Int, of table: Schema.Table, budget: inout Int
    ) throws(ReadFailure) -> UnpackedChunk {
        guard let list = places[table.name], list.indices.contains(position) else {
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
        guard let chunk = bytes.flatMap({ UnpackedChunk(table, rows: place.rows, $0) }) else {
            throw .inconsistency(Self.problem(place.id, "its data is not valid"))
        }
        return chunk
    }
}
