import CSQLite
import ProfileModel
import TestSupport
import Testing

@testable import Recording

/// Rows as a file has them, packed or plain.
@Suite struct LayoutTests {
    /// By the name of a packed table, since readers refuse chunks of others.
    private enum ThingsTable: Int32, Table {
        case count = 1, word, mass, colour, picture

        static let tableName = "notes"
        static let layout = TableLayout(Self.self)
        static let isPacked = true

        var column: Column {
            switch self {
            case .count: .integer("count")
            case .word: .text("word")
            case .mass: .integer("mass").orNull()
            case .colour: .text("colour").orNull()
            case .picture: .blob("picture")
            }
        }

        /// Odd numbers have no mass and no colour.
        static func write(
            _ number: Int, to row: inout RowEncoder<Self, some RowTarget>
        ) throws(SQLiteFailure) {
            let isOdd = number % 2 == 1
            try row.set(.count, number)
            try row.set(.word, "word \(number)")
            try row.set(.mass, isOdd ? nil : number * 7)
            try row.set(.colour, isOdd ? nil : "colour \(number)")
            try row.set(.picture, [UInt8(number)])
        }
    }

    /// Everything that a row has, in words.
    private static func words(_ row: inout Row<ThingsTable>) throws(ReadFailure) -> String {
        let (count, mass): (Int, Int?) = (try row.integer(.count), try row.optional(.mass))
        let colour = try row.optionalText(.colour)
        return "\(count) \(try row.text(.word)) \(mass.map(String.init) ?? "-") "
            + "\(colour ?? "-") \(try row.blob(.picture))"
    }

    @Test(arguments: [false, true]) func everyKindOfColumnIsReadBack(isPacked: Bool) throws {
        let database = try Database(inMemoryFor: "things")
        database.hasChunks = isPacked
        if isPacked {
            try database.execute(ChunksTable.layout.creation)
            let rows = PackedRows(ThingsTable.layout, try ChunkWriter(database))
            for row in 0..<3 { try rows.write(row, ThingsTable.self, at: row) }
            try rows.flush()
        } else {
            try database.execute(ThingsTable.layout.creation)
            let insertion = try database.prepare(ThingsTable.layout.insertion)
            for row in 0..<3 { try insertion.write(row, ThingsTable.self, at: row) }
        }
        var reader = TableReader(database: database, byteBudget: 1_000)
        var found: [String] = []
        try reader.scan(ThingsTable.self) { row, _ throws(ReadFailure) in
            found.append(try Self.words(&row))
        }
        #expect(
            found == ["0 word 0 0 colour 0 [0]", "1 word 1 - - [1]", "2 word 2 14 colour 2 [2]"])
        #expect(try database.rows(of: ThingsTable.tableName) == 3)
    }

    @Test func chunksAreAsLongAsTheirColumns() throws {
        // Ids 0 and 1, counts 5 and 5, the word "a" twice, no mass, no colour, two empty pictures.
        let bytes: [UInt8] = [2, 4, 12, 2, 1, 1, 97, 2, 0, 0, 0, 0, 1, 1]
        let chunk = try #require(UnpackedChunk(ThingsTable.layout, rows: 2, bytes))
        #expect(chunk.integer(1, 1) == 5 && chunk.text(2, 1) == "a" && chunk.blob(5, 1) == [])
        #expect(chunk.isNull(3, 1) && chunk.isNull(4, 1) && !chunk.isNull(5, 1))
        #expect(chunk.integer(3, 1) == nil && chunk.text(4, 1) == nil)
        for count in bytes.indices {
            #expect(UnpackedChunk(ThingsTable.layout, rows: 2, Array(bytes.prefix(count))) == nil)
        }
        #expect(UnpackedChunk(ThingsTable.layout, rows: 2, bytes + [0, 0]) == nil)
        #expect(UnpackedChunk(ThingsTable.layout, rows: 3, bytes) == nil)
    }

    /// A required value that is NULL is an error, and never zero.
    @Test func missingIsNotZero() throws {
        let chunk = try #require(
            UnpackedChunk(ThingsTable.layout, rows: 1, [2, 0, 0, 0, 0, 0]))
        var row = Row<ThingsTable>(.chunk(chunk), byteBudget: .max)
        #expect(throws: ReadFailure.self) { try row.integer(.count) as Int }
        #expect(throws: ReadFailure.self) { try row.text(.word) }
        #expect(throws: ReadFailure.self) { try row.blob(.picture) }
    }

    @Test func declarations() {
        let layout = ThingsTable.layout
        #expect(
            layout.creation == "CREATE TABLE notes(id INTEGER PRIMARY KEY, count INTEGER NOT NULL, "
                + "word TEXT NOT NULL, mass INTEGER, colour TEXT, picture BLOB NOT NULL)")
        #expect(
            layout.selection
                == "SELECT id, count, word, mass, colour, picture FROM notes ORDER BY id")
    }
}

/// Recordings that were exported for SQL.
@Suite struct PlainRecordingTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func plain(_ recording: Recording) throws -> String {
        try savePlain(recording, to: scratch.path("plain"))
        return scratch.path("plain")
    }

    @Test(arguments: [3, 4, 5]) func theyAreTheSame(seed: UInt64) throws {
        var random = RandomRecording(seed: seed)
        let recording = random.make()
        expectEqual(try RecordingReader.load(path: try plain(recording)), recording)
    }

    @Test func theyTakeSymbols() throws {
        var random = RandomRecording(seed: 3)
        let path = try plain(random.make())
        var symbols = SymbolTable()
        let frame = FrameAddress(module: ModuleIndex(0), address: CodeAddress(16, .instruction))
        symbols.frames[frame] = [
            SourceFrame(function: "main", file: nil, line: nil, isInlined: false)
        ]
        try RecordingFile.store(symbols, references: [0: true], in: path)
        let recording = try RecordingReader.load(path: path)
        #expect(recording.symbols.frames == symbols.frames)
        #expect(recording.libraries.first?.isReferenced == true)
    }

    /// A file has all plain tables, or the one of chunks.
    @Test func layoutsAreNotMixed() throws {
        var random = RandomRecording(seed: 3)
        let path = try plain(random.make())
        execute(ChunksTable.layout.creation, on: path)
        #expect(try RecordingReader.load(path: path).slices.isEmpty)
        execute("DROP TABLE chunks; DROP TABLE waits", on: path)
        #expect(
            loadError(path)
                == .damaged(path: path, detail: "waits: the table is missing or was changed"))
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
