import CSQLite
import ProfileModel

/// Why a table could not be read.
enum ReadFailure: Error {
    case failure(SQLiteFailure)
    case inconsistency(Inconsistency)
}

/// Reads tables row by row.
struct TableReader {
    let database: Database
    /// How many bytes of texts, blobs and chunks may still be read. A sound file stores each of
    /// them once, so together they are no longer than the file. Rows that share their storage could
    /// fill any memory from a small file; this limit catches them.
    var byteBudget: Int
    var rules = Consistency()

    private var chunks: ChunkReader?

    init(database: Database, byteBudget: Int) {
        self.database = database
        self.byteBudget = byteBudget
    }

    /// Calls `body` with each row and the rules. Ids must count up from 0: this catches repeated
    /// and missing rows, and ends a table whose pages form a circle.
    mutating func scan<T: Table>(
        _: T.Type, _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        if T.isPacked, database.hasChunks {
            try scanPacked(T.self, body)
        } else {
            try scanStored(T.self, body)
        }
    }

    /// Calls `body` with each row's value, which the table's rule admits, and the row.
    mutating func scanValues<T: RecordingTable>(
        _: T.Type, _ body: (T.Value, Row) throws(ReadFailure) -> Void
    ) throws(ReadFailure) where T.Ruled == T.Value {
        try scan(T.self) { row, rules throws(ReadFailure) in
            let value = try T.read(&row)
            try Self.admit { () throws(Inconsistency) in
                try T.admit(value, at: row.place, by: &rules)
            }
            try body(value, row)
        }
    }

    mutating func values<T: RecordingTable>(
        of _: T.Type
    ) throws(ReadFailure) -> [T.Value] where T.Ruled == T.Value {
        var values: [T.Value] = []
        if T.isLong { values.reserveCapacity(try expectedRows(of: T.self)) }
        try scanValues(T.self) { value, _ in values.append(value) }
        return values
    }

    /// The one row of a table.
    mutating func only<T: Table>(_: T.Type) throws(ReadFailure) -> T.Value {
        var found: T.Value?
        try scan(T.self) { row, _ throws(ReadFailure) in
            guard row.number == 0 else { throw row.problem("more than one row") }
            found = try T.read(&row)
        }
        guard let found else {
            throw .inconsistency(RowPlace(table: T.tableName, row: 0).problem("is missing"))
        }
        return found
    }

    private mutating func scanStored<T: Table>(
        _: T.Type, _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        let statement: Statement
        do {
            statement = try database.prepare(T.layout.selection)
        } catch {
            throw .inconsistency(RowPlace(table: T.tableName, row: 0).problem("cannot be read"))
        }
        defer { statement.reset() }
        var row = Row(of: T.tableName, .statement(statement), byteBudget: byteBudget)
        while try Self.step(statement) {
            guard statement.integer(0) == Int64(row.number) else {
                throw row.problem("its id is out of order")
            }
            try body(&row, &rules)
            row.number += 1
        }
        byteBudget = row.byteBudget
    }

    /// How many rows of a table to reserve memory for; 0: unknown.
    mutating func expectedRows(
        of table: (some RecordingTable).Type
    ) throws(ReadFailure) -> Int {
        database.hasChunks ? try places().expectedRows(of: table.tableName) : 0
    }

    private mutating func places() throws(ReadFailure) -> ChunkReader {
        if let chunks { return chunks }
        let found = try ChunkReader(database)
        chunks = found
        return found
    }

    /// Texts have no budget of their own here: their chunks have one.
    private mutating func scanPacked<T: Table>(
        _: T.Type, _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        let chunks = try places()
        if T.isUpdated { return try scanUpdated(T.self, chunks, body) }
        var number = 0
        for position in 0..<chunks.count(of: T.tableName) {
            let chunk = try chunks.chunk(position, of: T.layout, budget: &byteBudget)
            var row = Row(of: T.tableName, .chunk(chunk), byteBudget: .max)
            row.number = number
            for index in 0..<chunk.rows {
                row.index = index
                guard chunk.integer(0, index) == Int64(row.number) else {
                    throw row.problem("its id is out of order")
                }
                try body(&row, &rules)
                row.number += 1
            }
            number = row.number
        }
    }

    /// A row replaces an earlier one with the same id.
    private mutating func scanUpdated<T: Table>(
        _: T.Type, _ chunks: ChunkReader,
        _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        var latest: [(chunk: UnpackedChunk, index: Int)] = []
        for position in 0..<chunks.count(of: T.tableName) {
            let chunk = try chunks.chunk(position, of: T.layout, budget: &byteBudget)
            for index in 0..<chunk.rows {
                let id = chunk.integer(0, index).flatMap { Int(exactly: $0) } ?? -1
                guard 0...latest.count ~= id else {
                    throw .inconsistency(
                        RowPlace(table: T.tableName, row: latest.count)
                            .problem("its id is out of order"))
                }
                if id == latest.count {
                    latest.append((chunk, index))
                } else {
                    latest[id] = (chunk, index)
                }
            }
        }
        for (number, (chunk, index)) in latest.enumerated() {
            var row = Row(of: T.tableName, .chunk(chunk), byteBudget: .max)
            (row.number, row.index) = (number, index)
            try body(&row, &rules)
        }
    }

    /// Checks one of the rules.
    static func admit(_ body: () throws(Inconsistency) -> Void) throws(ReadFailure) {
        do {
            try body()
        } catch {
            throw .inconsistency(error)
        }
    }

    static func step(_ statement: Statement) throws(ReadFailure) -> Bool {
        do {
            return try statement.step()
        } catch {
            throw .failure(error)
        }
    }
}
