import CSQLite
import ProfileModel

/// Why a table could not be read.
enum ReadFailure: Error {
    case failure(SQLiteFailure)
    case inconsistency(Inconsistency)
}

/// Reads tables row by row and turns their columns into checked values.
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
    mutating func scan(
        _ table: Schema.Table, _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        if database.hasChunks, table.name != Schema.header.name {
            try scanPacked(table, body)
        } else if table.name != Schema.references.name {
            try scanStored(table.asOf(database.version), body)
        }
    }

    private mutating func scanStored(
        _ table: Schema.Table, _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        let statement: Statement
        do {
            statement = try database.prepare(table.selection)
        } catch {
            throw .inconsistency(
                Inconsistency(table: table.name, row: 0, problem: "cannot be read"))
        }
        defer { statement.reset() }
        var row = Row(
            source: .statement(statement), table: table, number: 0, byteBudget: byteBudget)
        while try Self.step(statement) {
            guard statement.integer(0) == Int64(row.number) else {
                throw .inconsistency(row.problem("its id is out of order"))
            }
            try body(&row, &rules)
            row.number += 1
        }
        byteBudget = row.byteBudget
    }

    /// How many rows of a table to reserve memory for; 0: unknown.
    mutating func expectedRows(of table: Schema.Table) throws(ReadFailure) -> Int {
        database.hasChunks ? try places().expectedRows(of: table) : 0
    }

    private mutating func places() throws(ReadFailure) -> ChunkReader {
        if let chunks { return chunks }
        let found = try ChunkReader(database)
        chunks = found
        return found
    }

    /// Texts have no budget of their own here: their chunks have one.
    private mutating func scanPacked(
        _ table: Schema.Table, _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        let chunks = try places()
        if table.isUpdated { return try scanUpdated(table, chunks, body) }
        var number = 0
        for position in 0..<chunks.count(of: table) {
            let chunk = try chunks.chunk(position, of: table, budget: &byteBudget)
            var row = Row(source: .chunk(chunk), table: table, number: number, byteBudget: .max)
            for index in 0..<chunk.rows {
                row.index = index
                guard chunk.integer(0, index) == Int64(row.number) else {
                    throw .inconsistency(row.problem("its id is out of order"))
                }
                try body(&row, &rules)
                row.number += 1
            }
            number = row.number
        }
    }

    /// A row replaces an earlier one with the same id.
    private mutating func scanUpdated(
        _ table: Schema.Table, _ chunks: ChunkReader,
        _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        var latest: [(chunk: UnpackedChunk, index: Int)] = []
        for position in 0..<chunks.count(of: table) {
            let chunk = try chunks.chunk(position, of: table, budget: &byteBudget)
            for index in 0..<chunk.rows {
                let id = chunk.integer(0, index).flatMap { Int(exactly: $0) } ?? -1
                guard 0...latest.count ~= id else {
                    throw .inconsistency(
                        Inconsistency(
                            table: table.name, row: latest.count,
                            problem: "its id is out of order"))
                }
                if id == latest.count {
                    latest.append((chunk, index))
                } else {
                    latest[id] = (chunk, index)
                }
            }
        }
        for (number, (chunk, index)) in latest.enumerated() {
            var row = Row(source: .chunk(chunk), table: table, number: number, byteBudget: .max)
            row.index = index
            try body(&row, &rules)
        }
    }

    static func step(_ statement: Statement) throws(ReadFailure) -> Bool {
        do {
            return try statement.step()
        } catch {
            throw .failure(error)
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
}

/// One row of a table. Columns are numbered as in ``Schema``; `id` is column 0.
struct Row {
    fileprivate enum Source {
        case statement(Statement)
        case chunk(UnpackedChunk)
    }

    fileprivate let source: Source
    let table: Schema.Table
    fileprivate(set) var number: Int
    fileprivate var byteBudget: Int
    /// The row's index in its chunk.
    fileprivate var index = 0

    func problem(_ text: String) -> Inconsistency {
        Inconsistency(table: table.name, row: number, problem: text)
    }

    /// Not inlined, to keep the hot path short: the text is made only for an error.
    @inline(never)
    func invalid(_ column: Int32) -> ReadFailure {
        let index = Int(column) - 1
        let name = table.columns.indices.contains(index) ? table.columns[index].name : "id"
        return .inconsistency(problem("\(name) is not valid"))
    }

    func isNull(_ column: Int32) -> Bool {
        switch source {
        case .statement(let statement): statement.isNull(column)
        case .chunk(let chunk): chunk.isNull(Int(column), index)
        }
    }

    func integer<Value: FixedWidthInteger>(_ column: Int32) throws(ReadFailure) -> Value {
        let stored: Int64? =
            switch source {
            case .statement(let statement): statement.integer(column)
            case .chunk(let chunk): chunk.integer(Int(column), index)
            }
        guard let stored, let value = Value(exactly: stored) else { throw invalid(column) }
        return value
    }

    func optional<Value: FixedWidthInteger>(_ column: Int32) throws(ReadFailure) -> Value? {
        isNull(column) ? nil : try integer(column)
    }

    func bits(_ column: Int32) throws(ReadFailure) -> UInt64 {
        UInt64(bitPattern: try integer(column))
    }

    func optionalBits(_ column: Int32) throws(ReadFailure) -> UInt64? {
        isNull(column) ? nil : try bits(column)
    }

    func bool(_ column: Int32) throws(ReadFailure) -> Bool {
        let value: Int64 = try integer(column)
        guard value == 0 || value == 1 else { throw invalid(column) }
        return value == 1
    }

    func time(_ column: Int32) throws(ReadFailure) -> MonotonicTime {
        MonotonicTime(nanoseconds: try integer(column))
    }

    func span(_ column: Int32) throws(ReadFailure) -> TimeSpan {
        TimeSpan(nanoseconds: try integer(column))
    }

    mutating func text(_ column: Int32) throws(ReadFailure) -> String {
        switch source {
        case .statement(let statement):
            guard let bytes = statement.text(column), bytes.count <= byteBudget,
                let text = String(validating: bytes, as: UTF8.self)
            else { throw invalid(column) }
            byteBudget -= bytes.count
            return text
        case .chunk(let chunk):
            guard let text = chunk.text(Int(column), index) else { throw invalid(column) }
            return text
        }
    }

    mutating func optionalText(_ column: Int32) throws(ReadFailure) -> String? {
        isNull(column) ? nil : try text(column)
    }

    mutating func blob(_ column: Int32) throws(ReadFailure) -> [UInt8] {
        switch source {
        case .statement(let statement):
            guard let bytes = statement.blob(column), bytes.count <= byteBudget else {
                throw invalid(column)
            }
            byteBudget -= bytes.count
            return Array(bytes)
        case .chunk(let chunk):
            guard let bytes = chunk.blob(Int(column), index) else { throw invalid(column) }
            return bytes
        }
    }

    func module(_ column: Int32) throws(ReadFailure) -> ModuleIndex? {
        try (optional(column) as Int?).map(ModuleIndex.init)
    }

    /// True for a column that version 5 did not have: there it is NULL.
    func isMissing(_ column: Int32) -> Bool { Int(column) > table.columns.count }

    /// The column `child`.
    func child(_ column: Int32) throws(ReadFailure) -> ChildIndex? {
        if isMissing(column) { return nil }
        return try (optional(column) as Int?).map(ChildIndex.init)
    }

    mutating func addedText(_ column: Int32) throws(ReadFailure) -> String? {
        isMissing(column) ? nil : try optionalText(column)
    }

    /// The columns `module`, `address` and `kind` of a frame; `column` is the first.
    func frame(_ column: Int32) throws(ReadFailure) -> FrameAddress {
        guard let kind = CodeAddress.Kind(rawValue: try integer(column + 2)) else {
            throw invalid(column + 2)
        }
        let address = CodeAddress(try bits(column + 1), kind)
        return FrameAddress(module: try module(column), address: address)
    }
}
