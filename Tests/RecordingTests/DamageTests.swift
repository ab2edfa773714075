import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Recording

/// Files that are not, or no longer, what a recorder wrote: an error that says so, or a part of
/// the recording; never a crash, and nothing of the file is executed.
@Suite struct DamageTests {
    private func sample(_ scratch: Scratch, seed: UInt64 = 11) throws -> String {
        var random = RandomRecording(seed: seed)
        try save(random.make(slices: 60), to: scratch.path("good"))
        return scratch.path("good")
    }

    /// With tables that SQL can change.
    private func plain(_ scratch: Scratch) throws -> String {
        var random = RandomRecording(seed: 11)
        try savePlain(random.make(slices: 60), to: scratch.path("plain"))
        return scratch.path("plain")
    }

    @Test func truncatedAnywhere() throws {
        let scratch = try Scratch()
        let bytes = readBytes(try sample(scratch))
        let path = scratch.path("cut")
        for size in stride(from: 0, to: bytes.count, by: 512) {
            writeBytes(Array(bytes[..<size]), to: path)
            switch loadError(path) {
            case .empty: #expect(size == 0)
            case .notARecording: #expect(size < 100)
            case .damaged(path, _): break
            case let other: Issue.record("\(size): \(String(describing: other))")
            }
        }
    }

    @Test(arguments: seeds(150)) func mutated(seed: UInt64) throws {
        let scratch = try Scratch()
        let isPlain = seed % 2 == 0
        var bytes = readBytes(
            try isPlain ? plain(scratch) : sample(scratch, seed: 11 + seed % 3))
        var generator = SeededNumbers(seed: seed)
        for _ in 0..<Int.random(in: 1...40, using: &generator) {
            let place = Int.random(in: bytes.indices, using: &generator)
            bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
        }
        let path = scratch.path("bad")
        writeBytes(bytes, to: path)
        guard let recording = try? RecordingReader.load(path: path) else {
            let text = loadError(path)?.description ?? ""
            #expect(text.hasPrefix(path) && !text.contains("\n"))
            return
        }
        // What loads keeps the promises that analyses rely on.
        for slice in recording.slices {
            #expect(recording.threads.indices.contains(slice.thread.rawValue))
            if let stack = slice.stack { #expect(recording.stacks.frames(of: stack).count <= 100) }
            #expect(slice.times.wall >= .zero && slice.start <= slice.end)
        }
    }

    @Test func notRecordings() throws {
        let scratch = try Scratch()
        let text = scratch.path("text")
        writeBytes(Array(repeating: 65, count: 1_000), to: text)
        #expect(loadError(text) == .notARecording(path: text))
        let other = scratch.path("other")
        execute("CREATE TABLE slices(id INTEGER PRIMARY KEY)", on: other)
        #expect(loadError(other) == .notARecording(path: other))
        let nothing = scratch.path("nothing")
        #expect(loadError(nothing) == .cannotOpen(path: nothing, errno: ENOENT))
        let folder = scratch.folder
        #expect(loadError(folder) == .notAFile(path: folder, kind: "a directory"))
        #expect(loadError("/dev/null") == .notAFile(path: "/dev/null", kind: "a device"))
        let pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(loadError(pipe) == .notAFile(path: pipe, kind: "a pipe"))
    }

    @Test func newerSchema() throws {
        let scratch = try Scratch()
        let path = try sample(scratch)
        execute("PRAGMA user_version = 2", on: path)
        let error = loadError(path)
        #expect(error == .newerSchema(path: path, found: 2, supported: 1))
        let words =
            "was written by a newer version of firstlight (schema 2, this one reads up to 1)"
        #expect(error?.description.contains(words) == true)
        execute("PRAGMA user_version = -1", on: path)
        #expect(loadError(path) == .damaged(path: path, detail: "its header was changed"))
    }

    @Test(arguments: [
        ("DELETE FROM header", "header, row 0: is missing"),
        ("UPDATE notes SET kind = 'gossip' WHERE id = 0", "kind is not valid"),
        ("UPDATE notes SET value = -1 WHERE id = 0", "notes, row 0: a value out of range"),
        (
            "INSERT INTO notes SELECT COUNT(*), MIN(kind), 1 FROM notes",
            "repeats an earlier kind"
        ),
        ("UPDATE header SET capture = 'magic'", "capture is not valid"),
        ("UPDATE header SET attached = 2", "attached is not valid"),
        ("UPDATE header SET outcome = 'exited', outcome_value = 5000000000", "outcome"),
        ("UPDATE header SET pid = -1", "pid is out of range"),
        ("UPDATE header SET frequency = 1e300", "frequency is not valid"),
        ("UPDATE threads SET name = CAST(x'FF80' AS TEXT) WHERE id = 0", "row 0: name"),
        ("UPDATE threads SET end_ns = -5 WHERE id = 0", "out of range"),
        ("UPDATE threads SET start_ns = 5, end_ns = 4 WHERE id = 0", "ends before it starts"),
        ("UPDATE modules SET build_id = 5 WHERE id = 0", "build_id is not valid"),
        ("UPDATE mappings SET module = 999 WHERE id = 0", "no such module"),
        ("UPDATE mappings SET end_address = start_address WHERE id = 0", "an empty range"),
        ("UPDATE stacks SET parent = id WHERE id = 5", "row 5: its parent does not precede"),
        ("UPDATE stacks SET parent = 99 WHERE id = 5", "row 5: its parent does not precede"),
        ("UPDATE stacks SET parent = -1 WHERE id = 5", "row 5: its parent does not precede"),
        ("UPDATE stacks SET module = -1 WHERE id = 5", "row 5: no such module"),
        ("UPDATE stacks SET kind = 2 WHERE id = 5", "row 5: kind"),
        (
            """
            UPDATE stacks SET (parent, module, address, kind) =
            (SELECT parent, module, address, kind FROM stacks WHERE id = 5) WHERE id = 6
            """, "row 6: repeats"
        ),
        ("DELETE FROM stacks WHERE id = 7", "row 7: its id is out of order"),
        ("UPDATE slices SET thread = 4000000000 WHERE id = 0", "no such thread"),
        ("UPDATE slices SET thread = -1 WHERE id = 0", "no such thread"),
        ("UPDATE slices SET stack = 100000 WHERE id = 0", "no such stack"),
        ("UPDATE slices SET stack = -1 WHERE id = 0", "no such stack"),
        ("UPDATE slices SET running_ns = -1 WHERE id = 0", "a time out of range"),
        ("UPDATE slices SET blocked_ns = 9223372036854775807 WHERE id = 0", "out of range"),
        ("UPDATE slices SET start_ns = 'x' WHERE id = 0", "start_ns is not valid"),
        ("UPDATE slices SET start_ns = 0 WHERE id = 59", "row 59: overlaps"),
        ("UPDATE slices SET truncation = 99 WHERE id = 0", "truncation is not valid"),
        ("UPDATE libraries SET start_ns = -1 WHERE id = 0", "libraries, row 0: a time"),
        ("UPDATE libraries SET wall_ns = -1 WHERE id = 0", "libraries, row 0: a time"),
        ("UPDATE libraries SET wall_ns = 9223372036854775807 WHERE id = 0", "a time out"),
        ("UPDATE libraries SET size = -1 WHERE id = 0", "its size is out of range"),
        ("UPDATE libraries SET caller = 100000 WHERE id = 0", "libraries, row 0: no such stack"),
        ("UPDATE libraries SET caller = -1 WHERE id = 0", "libraries, row 0: no such stack"),
        ("UPDATE libraries SET initial = 2 WHERE id = 0", "initial is not valid"),
        ("UPDATE libraries SET path = x'00' WHERE id = 0", "path is not valid"),
        ("UPDATE initializers SET function = -1 WHERE id = 0", "no such stack"),
        ("UPDATE initializers SET function = 100000 WHERE id = 0", "no such stack"),
        ("UPDATE initializers SET thread = 100000 WHERE id = 0", "no such thread"),
        ("UPDATE initializers SET start_ns = 2, end_ns = 1", "row 0: ends before it starts"),
        ("UPDATE initializers SET cpu_ns = -1", "initializers, row 0: a time out of range"),
        ("UPDATE intervals SET thread = -1 WHERE id = 0", "intervals, row 0: no such thread"),
        ("UPDATE intervals SET end_ns = start_ns - 1", "intervals, row 0: "),
        ("UPDATE intervals SET end_ns = 9223372036854775807", "a time out of range"),
        ("UPDATE intervals SET complete = 7", "complete is not valid"),
        ("UPDATE signposts SET thread = 100000 WHERE id = 0", "signposts, row 0: no such"),
        ("UPDATE signposts SET time_ns = -1 WHERE id = 0", "signposts, row 0: a time"),
        ("REPLACE INTO ready VALUES (0, 1, 'a'), (1, 1, 'b')", "ready, row 1: ready twice"),
        ("REPLACE INTO ready VALUES (0, -1, 'a')", "ready, row 0: a time out of range"),
        ("UPDATE waits SET thread = 100000 WHERE id = 0", "waits, row 0: no such thread"),
        ("UPDATE waits SET end_ns = start_ns - 1", "waits, row 0: "),
        ("UPDATE waits SET end_ns = 9223372036854775807", "a time out of range"),
        ("UPDATE wait_reasons SET kind = 'boredom'", "kind is not valid"),
        ("UPDATE wait_reasons SET detail = x'00' WHERE id = 0", "detail is not valid"),
        ("UPDATE wait_reasons SET owner = 0 WHERE id = 0", "its owner is no thread"),
        ("UPDATE wait_reasons SET owner = 5000000000 WHERE id = 0", "owner is not valid"),
        ("UPDATE waits SET reason = 100000 WHERE id = 0", "reason is not valid"),
        ("UPDATE waits SET reason = -1 WHERE id = 0", "reason is not valid"),
        ("UPDATE waits SET stack = 100000 WHERE id = 0", "waits, row 0: no such stack"),
        ("UPDATE waits SET stack = -1 WHERE id = 0", "waits, row 0: no such stack"),
        ("UPDATE waits SET system_call = -2 WHERE id = 0", "waits, row 0: no such system call"),
        ("UPDATE priorities SET thread = -1 WHERE id = 0", "priorities, row 0: no such thread"),
        ("UPDATE priorities SET time_ns = -1 WHERE id = 0", "priorities, row 0: a time"),
        ("UPDATE priorities SET nice = 5000000000 WHERE id = 0", "nice is not valid"),
        ("DROP TABLE waits", "waits: the table is missing or was changed"),
        ("DROP TABLE ready", "ready: the table is missing or was changed"),
        ("UPDATE header SET account = 'gossip'", "account is not valid"),
        ("UPDATE runs SET thread = 100000 WHERE id = 0", "runs, row 0: no such thread"),
        ("UPDATE runs SET thread = -1 WHERE id = 0", "runs, row 0: no such thread"),
        ("UPDATE runs SET start_ns = -99999999999999 WHERE id = 0", "runs, row 0: "),
        ("UPDATE runs SET start_ns = 9223372036854775807 WHERE id = 0", "runs, row 0: a time out"),
        ("UPDATE runs SET thread = 0, start_ns = 5", "runs, row 1: overlaps"),
        // A running one of no length.
        ("UPDATE runs SET data = x'0000' WHERE id = 0", "runs, row 0: a time out of range"),
        ("UPDATE runs SET data = x'' WHERE id = 0", "data is not valid"),
        // A number that does not end, one of too many bytes, a core that is missing or too large.
        ("UPDATE runs SET data = x'07FF' WHERE id = 0", "data is not valid"),
        ("UPDATE runs SET data = x'FFFFFFFFFFFFFFFFFF7F' WHERE id = 0", "data is not valid"),
        ("UPDATE runs SET data = x'04' WHERE id = 0", "data is not valid"),
        ("UPDATE runs SET data = x'04FFFFFFFF7F' WHERE id = 0", "data is not valid"),
        ("UPDATE runs SET data = 5 WHERE id = 0", "data is not valid"),
        ("UPDATE wakeups SET thread = 100000 WHERE id = 0", "wakeups, row 0: no such thread"),
        ("UPDATE wakeups SET waker_thread = -1 WHERE id = 0", "wakeups, row 0: no such thread"),
        ("UPDATE wakeups SET time_ns = -1 WHERE id = 0", "wakeups, row 0: a time out of range"),
        ("UPDATE wakeups SET waker = -1 WHERE id = 0", "wakeups, row 0: a negative thread id"),
        ("UPDATE wakeups SET interrupt = 3 WHERE id = 0", "interrupt is not valid"),
        ("UPDATE symbols SET position = 9 WHERE id = 0", "position is not valid"),
        ("UPDATE symbols SET function = 99999 WHERE id = 0", "function is not valid"),
        ("UPDATE symbols SET module = 99999 WHERE id = 3", "no such module"),
        ("UPDATE symbols SET line = -1 WHERE id = 0", "line is not valid"),
        ("UPDATE symbols SET linkage_name = 99999 WHERE id = 0", "linkage_name is not valid"),
        ("UPDATE module_symbols SET module = 0", "module"),
        ("UPDATE module_symbols SET symbol_origin = 'x'", "symbol_origin is not valid"),
        ("UPDATE module_symbols SET debug_info_origin = ''", "debug_info_origin is not valid"),
        ("UPDATE module_remarks SET kind = 'x'", "kind is not valid"),
        ("UPDATE module_remarks SET module = 99999", "module is not valid"),
        ("DROP TABLE slices", "slices: the table is missing or was changed"),
        ("ALTER TABLE slices ADD COLUMN more", "slices: the table is missing or was changed"),
        ("DROP TABLE strings; CREATE VIEW strings AS SELECT 0 AS id, 'x' AS value", "strings"),
        (
            """
            DROP TABLE strings;
            CREATE TABLE strings(id INTEGER PRIMARY KEY, value AS (hex(zeroblob(999999))))
            """, "strings: the table is missing or was changed"
        ),
    ]) func wrongValues(sql: String, expected: String) throws {
        let scratch = try Scratch()
        let path = try plain(scratch)
        execute(sql, on: path)
        expectDamage(loadError(path), at: path, expected)
    }

    @Test(arguments: [
        ("UPDATE chunks SET name = 'x' WHERE id = 0", "chunks, row 0: is not valid"),
        ("UPDATE chunks SET name = 'header' WHERE id = 0", "chunks, row 0: is not valid"),
        ("UPDATE chunks SET id = -5 WHERE id = 0", "chunks, row -1: the next is out of order"),
        (
            "UPDATE chunks SET id = 1 << 60 WHERE id = (SELECT max(id) FROM chunks)",
            "the next is out of order"
        ),
        ("UPDATE chunks SET rows = 0 WHERE id = 0", "chunks, row 0: is not valid"),
        ("UPDATE chunks SET rows = -1 WHERE id = 0", "chunks, row 0: is not valid"),
        ("UPDATE chunks SET rows = 'x' WHERE id = 0", "chunks, row 0: is not valid"),
        ("UPDATE chunks SET size = x'00' WHERE id = 0", "chunks, row 0: is not valid"),
        ("UPDATE chunks SET size = -1 << 63 WHERE id = 0", "chunks, row 0: is not valid"),
        ("UPDATE chunks SET rows = rows + 1 WHERE name = 'slices'", "its data is not valid"),
        ("UPDATE chunks SET rows = rows - 1 WHERE name = 'slices'", "its data is not valid"),
        ("UPDATE chunks SET rows = 1 << 60 WHERE name = 'slices'", "its data is not valid"),
        ("UPDATE chunks SET size = size + 1 WHERE name = 'slices'", "its data is not valid"),
        ("UPDATE chunks SET size = 1 << 60 WHERE name = 'slices'", "its data is not valid"),
        ("UPDATE chunks SET size = 0 WHERE name = 'slices'", "its data is not valid"),
        ("UPDATE chunks SET size = -1 WHERE name = 'slices'", "is not valid"),
        ("UPDATE chunks SET data = x'' WHERE name = 'stacks'", "its data is not valid"),
        ("UPDATE chunks SET data = 5 WHERE name = 'stacks'", "its data is not valid"),
        ("DELETE FROM chunks WHERE name = 'threads'", "no such thread"),
        (
            "INSERT INTO chunks SELECT 1000, name, rows, size, data FROM chunks "
                + "WHERE name = 'slices' LIMIT 1", "slices, row 60: its id is out of order"
        ),
        ("UPDATE chunks SET name = 'signposts' WHERE name = 'waits'", "its data is not valid"),
        ("DROP TABLE chunks", "notes: the table is missing or was changed"),
        (
            "ALTER TABLE chunks RENAME TO c; CREATE VIEW chunks AS SELECT * FROM c",
            "chunks: the table is missing or was changed"
        ),
    ]) func wrongChunks(sql: String, expected: String) throws {
        let scratch = try Scratch()
        let path = try sample(scratch)
        execute(sql, on: path)
        expectDamage(loadError(path), at: path, expected)
    }

    /// A few bytes must not expand to very many: memory stays in proportion to the file.
    @Test func chunksAreNoBombs() throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        #expect(Chunk.packed(zeros) == zeros)
        var random = SeededNumbers(seed: 1)
        let mixed = (0..<1 << 16).map { _ in UInt8.random(in: 0...3, using: &random) }
        let packed = Chunk.packed(mixed)
        #expect(packed.count < mixed.count && packed.count * Chunk.mostRatio >= mixed.count)
        packed.withUnsafeBytes { bytes in
            #expect(Chunk.unpacked(bytes, size: mixed.count) == mixed)
            for size in [mixed.count - 1, mixed.count + 1, 0, -1, .max, bytes.count] {
                let isItself = size == bytes.count
                #expect(Chunk.unpacked(bytes, size: size) == (isItself ? packed : nil))
            }
        }
        let bomb = Chunk.deflated(zeros)
        #expect(bomb.count * Chunk.mostRatio < zeros.count)
        bomb.withUnsafeBytes { #expect(Chunk.unpacked($0, size: zeros.count) == nil) }
    }

    @Test func triggersDoNotRun() throws {
        let scratch = try Scratch()
        let path = try sample(scratch)
        execute(
            "CREATE TRIGGER t AFTER INSERT ON chunks BEGIN DELETE FROM header; END", on: path)
        let recording = try RecordingReader.load(path: path)
        try RecordingFile.store(recording.symbols, references: recording.references, in: path)
        expectEqual(try RecordingReader.load(path: path), recording)
    }

    @Test func otherTablesAreIgnored() throws {
        let scratch = try Scratch()
        let path = try sample(scratch)
        execute("CREATE TABLE diary(text); CREATE INDEX i ON chunks(name)", on: path)
        #expect(loadError(path) == nil)
    }

    /// SQLite deletes the file that a journal names as its "super-journal".
    @Test func aJournalCannotHaveAnotherFileDeleted() throws {
        let scratch = try Scratch()
        let path = try sample(scratch)
        let victim = scratch.path("victim")
        writeBytes(Array("precious".utf8), to: victim)
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        let name = Array(victim.utf8)
        func bigEndian(_ value: Int) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        var journal = magic + [UInt8](repeating: 0, count: 504)
        journal.replaceSubrange(20..<24, with: bigEndian(512))
        let file = readBytes(path)
        let page = Int(file[16]) << 8 | Int(file[17])
        journal.replaceSubrange(24..<28, with: bigEndian(page))
        journal.replaceSubrange(16..<20, with: bigEndian(file.count / page))
        journal += bigEndian(0x4000_0000 / page + 1) + name + bigEndian(name.count)
        journal += bigEndian(name.reduce(0) { $0 + Int(Int8(bitPattern: $1)) }) + magic
        writeBytes(journal, to: path + "-journal")
        let link = scratch.path("link")
        #expect(symlink(path, link) == 0)
        for name in [path, link] {
            #expect(
                loadError(name)
                    == .damaged(path: name, detail: "its journal refers to another file"))
        }
        #expect(readBytes(victim) == Array("precious".utf8))
        // The journal is a real danger: SQLite by itself does delete the file.
        execute("SELECT count(*) FROM sqlite_schema", on: path)
        #expect(!scratch.names.contains("victim"))
    }

    /// A write-ahead log would make SQLite create and read further files.
    @Test func noWriteAheadLog() throws {
        let scratch = try Scratch()
        let path = try sample(scratch)
        execute("PRAGMA journal_mode = WAL; CREATE TABLE more(x)", on: path)
        #expect(loadError(path) == .damaged(path: path, detail: "its header was changed"))
    }
}
