import CSQLite
import ProfileModel
import Testing

@testable import Recording

/// A column that comes with a later version: older files have NULL in its place, packed or plain.
@Suite struct AddedColumnTests {
    /// By the name of a packed table, since readers refuse chunks of others.
    private enum ThingsTable: Int32, Table {
        case count = 1, word, mass, colour, picture

        static let tableName = "notes"
        static let layout = TableLayout(Self.self)

        var column: Column {
            switch self {
            case .count: .integer("count")
            case .word: .text("word")
            case .mass: .integer("mass").added(in: 9)
            case .colour: .text("colour").added(in: 10)
            case .picture: .blob("picture").added(in: 10)
            }
        }

        static func write(
            _ number: Int, to row: inout RowEncoder<Self, some RowTarget>
        ) throws(SQLiteFailure) {
            try row.set(.count, number)
            try row.set(.word, "word \(number)")
            try row.set(.mass, number * 7)
            try row.set(.colour, "colour \(number)")
            try row.set(.picture, [UInt8(number)])
        }
    }

    /// Everything that a row has, in words.
    private static func words(_ row: inout Row<ThingsTable>) throws(ReadFailure) -> String {
        let (count, mass): (Int, Int?) = (try row.integer(.count), try row.optional(.mass))
        let colour = try row.optionalText(.colour)
        let picture = row.isNull(.picture) ? nil : try row.blob(.picture)
        return "\(count) \(try row.text(.word)) \(mass.map(String.init) ?? "-") "
            + "\(colour ?? "-") \(picture.map { "\($0)" } ?? "-")"
    }

    private static let expected: [Int32: [String]] = [
        8: ["0 word 0 - - -", "1 word 1 - - -"], 9: ["0 word 0 0 - -", "1 word 1 7 - -"],
        10: ["0 word 0 0 colour 0 [0]", "1 word 1 7 colour 1 [1]"],
    ]

    /// A file of a version with two rows.
    private func file(_ version: Int32, packed: Bool) throws -> Database {
        let database = try Database(inMemoryFor: "things")
        (database.version, database.hasChunks) = (version, packed)
        let layout = ThingsTable.layout.asOf(version)
        if packed {
            try database.execute(ChunksTable.layout.creation)
            let rows = PackedRows(layout, try ChunkWriter(database))
            for row in 0..<2 { try rows.write(row, ThingsTable.self, at: row) }
            try rows.flush()
        } else {
            try database.execute(layout.creation)
            let insertion = try database.prepare(layout.insertion)
            for row in 0..<2 { try insertion.write(row, ThingsTable.self, at: row) }
        }
        return database
    }

    private func read(_ database: Database) throws(ReadFailure) -> [String] {
        var reader = TableReader(database: database, byteBudget: 1_000)
        var found: [String] = []
        try reader.scan(ThingsTable.self) { row, _ throws(ReadFailure) in
            found.append(try Self.words(&row))
        }
        return found
    }

    @Test(arguments: [8, 9, 10] as [Int32], [false, true])
    func whatAVersionHasIsRead(version: Int32, packed: Bool) throws {
        let database = try file(version, packed: packed)
        #expect(try read(database) == Self.expected[version])
    }

    /// A column is missing according to the file's version, and never to its bytes.
    @Test(arguments: [(8, 9), (8, 10), (9, 10), (9, 8), (10, 8), (10, 9)] as [(Int32, Int32)])
    func anotherVersionsChunksAreRefused(written: Int32, said: Int32) throws {
        let database = try file(written, packed: true)
        database.version = said
        let error = #expect(throws: ReadFailure.self) { try read(database) }
        guard case .inconsistency(let found)? = error else { return }
        #expect(found.detail == "chunks, row 0: its data is not valid")
    }

    @Test func chunksAreAsLongAsTheirColumns() throws {
        // Ids 0 and 1, counts 5 and 5, the word "a" twice.
        let bytes: [UInt8] = [2, 4, 12, 2, 1, 1, 97, 2]
        let layout = ThingsTable.layout.asOf(8)
        let chunk = try #require(UnpackedChunk(layout, rows: 2, bytes))
        #expect(chunk.integer(1, 1) == 5 && chunk.text(2, 1) == "a")
        for column in 3...5 {
            #expect(chunk.isNull(column, 0) && chunk.isNull(column, 1))
            #expect(chunk.integer(column, 1) == nil && chunk.text(column, 1) == nil)
            #expect(chunk.blob(column, 1) == nil)
        }
        for count in bytes.indices {
            #expect(UnpackedChunk(layout, rows: 2, Array(bytes.prefix(count))) == nil)
        }
        #expect(UnpackedChunk(layout, rows: 2, bytes + [0, 0]) == nil)
        #expect(UnpackedChunk(layout, rows: 3, bytes) == nil)
    }

    /// A missing required value is an error, and never zero.
    @Test func missingIsNotZero() throws {
        let chunk = try #require(UnpackedChunk(ThingsTable.layout.asOf(8), rows: 1, [2, 2, 0]))
        var row = Row<ThingsTable>(.chunk(chunk), byteBudget: .max)
        #expect(throws: ReadFailure.self) { try row.integer(.mass) as Int }
        #expect(throws: ReadFailure.self) { try row.text(.colour) }
        #expect(throws: ReadFailure.self) { try row.blob(.picture) }
    }

    @Test func declarations() {
        let old = ThingsTable.layout.asOf(8)
        let first = "CREATE TABLE notes(id INTEGER PRIMARY KEY, count INTEGER NOT NULL, "
        #expect(old.creation == first + "word TEXT NOT NULL)")
        #expect(old.selection == "SELECT id, count, word, NULL, NULL, NULL FROM notes ORDER BY id")
        let new = ThingsTable.layout.asOf(10)
        #expect(
            new.creation == first + "word TEXT NOT NULL, mass INTEGER, colour TEXT, picture BLOB)")
    }

    /// Only the last columns of a table can be missing in an older file.
    @Test func columnsAreOnlyAddedAtTheEnd() {
        let tables: [any Table.Type] = [HeaderTable.self, ChunksTable.self] + Schema.packed
        for table in tables {
            let columns = table.layout.columns
            #expect(zip(columns, columns.dropFirst()).allSatisfy { $0.first <= $1.first })
        }
    }
}

/// A row that does not set its table's columns, each in its place, is not written.
@Suite struct RowEncoderTests {
    private enum PairsTable: Int32, Table {
        case left = 1, right

        static let tableName = "pairs"
        static let layout = TableLayout(Self.self)

        var column: Column { .integer("\(self)") }

        static func write(
            _ columns: [Self], to row: inout RowEncoder<Self, some RowTarget>
        ) throws(SQLiteFailure) {
            for column in columns { try row.set(column, 1) }
        }
    }

    @Test func onlyWholeRows() throws {
        let database = try Database(inMemoryFor: "pairs")
        try database.execute(PairsTable.layout.creation)
        let insertion = try database.prepare(PairsTable.layout.insertion)
        try insertion.write([.left, .right], PairsTable.self, at: 0)
        let wrong: [[PairsTable]] = [
            [], [.left], [.right], [.right, .left], [.left, .left], [.left, .right, .right],
        ]
        for columns in wrong {
            let error = #expect(throws: SQLiteFailure.self) {
                try insertion.write(columns, PairsTable.self, at: 1)
            }
            #expect(error?.code == SQLITE_MISUSE)
        }
        #expect(try database.rows(of: "pairs") == 1)
    }
}
