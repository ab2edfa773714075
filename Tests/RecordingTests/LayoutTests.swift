import CSQLite
import ProfileModel
import TestSupport
import Testing

@testable import Recording

/// Rows as a file has them, packed or plain.
@Suite struct LayoutTests {
    private struct Thing {
        var count: Int
        var word: String
        var mass: Int?
        var colour: String?
        var picture: [UInt8]

        /// Odd numbers have no mass and no colour.
        init(_ number: Int) {
            let isOdd = number % 2 == 1
            (count, word, picture) = (number, "word \(number)", [UInt8(number)])
            mass = isOdd ? nil : number * 7
            colour = isOdd ? nil : "colour \(number)"
        }

        var words: String {
            "\(count) \(word) \(mass.map(String.init) ?? "-") \(colour ?? "-") \(picture)"
        }
    }

    /// By the name of a packed table, since readers refuse chunks of others.
    private enum ThingsTable: Table {
        static let tableName = "notes"
        static let layout = TableLayout(Self.self)
        static let isPacked = true

        static var blank: Thing { Thing(0) }

        static func visit<V: ColumnVisitor>(
            _ thing: inout Thing, by columns: inout V
        ) throws(V.Failure) {
            try columns.integer("count", &thing.count)
            try columns.text("word", &thing.word)
            try columns.integer("mass", &thing.mass)
            try columns.text("colour", &thing.colour)
            try columns.blob("picture", &thing.picture)
        }
    }

    @Test(arguments: [false, true]) func everyKindOfColumnIsReadBack(isPacked: Bool) throws {
        let database = try Database(inMemoryFor: "things")
        database.hasChunks = isPacked
        if isPacked {
            try database.execute(ChunksTable.layout.creation)
            let rows = PackedRows(ThingsTable.layout, try ChunkWriter(database))
            for row in 0..<3 { try rows.write(Thing(row), ThingsTable.self, at: row) }
            try rows.flush()
        } else {
            try database.execute(ThingsTable.layout.creation)
            let insertion = try database.prepare(ThingsTable.layout.insertion)
            for row in 0..<3 { try insertion.write(Thing(row), ThingsTable.self, at: row) }
        }
        var reader = TableReader(database: database, byteBudget: 1_000)
        var found: [String] = []
        try reader.scan(ThingsTable.self) { row, _ throws(ReadFailure) in
            found.append(try ThingsTable.read(&row).words)
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
    @Test(
        arguments: [
            ("count", [2, 0, 1, 0, 0, 0, 1]), ("word", [2, 2, 0, 0, 0, 1]),
            ("picture", [2, 2, 1, 1, 97, 0, 0, 0]),
        ] as [(String, [UInt8])])
    func missingIsNotZero(column: String, bytes: [UInt8]) throws {
        let chunk = try #require(UnpackedChunk(ThingsTable.layout, rows: 1, bytes))
        var row = Row(of: "notes", .chunk(chunk), byteBudget: .max)
        let error = #expect(throws: ReadFailure.self) { try ThingsTable.read(&row) }
        guard case .inconsistency(let found) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found.problem == "\(column) is not valid")
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
