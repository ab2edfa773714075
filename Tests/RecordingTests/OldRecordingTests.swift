import CSQLite
import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

/// Files as each version of the schema wrote them, with the declarations of that time, can be read.
/// For version 5 it is the main recording of several: each process had a file of its own.
@Suite struct OldRecordingTests {
    /// Never to be changed. A later version gets a text of its own.
    private static let version5 = """
        PRAGMA application_id = 1179404116;
        PRAGMA user_version = 5;
        CREATE TABLE header(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, attached INTEGER \
        NOT NULL, capture TEXT NOT NULL, frequency INTEGER NOT NULL, ticks INTEGER NOT \
        NULL, missed_ticks INTEGER NOT NULL, lateness_ns INTEGER NOT NULL, lost_samples \
        INTEGER NOT NULL, held_ns INTEGER NOT NULL, outcome TEXT, outcome_value INTEGER, \
        recorder_version TEXT NOT NULL, account TEXT, source TEXT);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, value INTEGER NOT \
        NULL);
        CREATE TABLE children(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent INTEGER \
        NOT NULL, name TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, \
        cpu_ns INTEGER NOT NULL, outcome TEXT, outcome_value INTEGER, file TEXT NOT NULL);
        CREATE TABLE images(id INTEGER PRIMARY KEY, path TEXT NOT NULL, time_ns INTEGER NOT \
        NULL);
        CREATE TABLE arguments(id INTEGER PRIMARY KEY, image INTEGER NOT NULL, value TEXT \
        NOT NULL);
        CREATE TABLE marks(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time_ns INTEGER \
        NOT NULL, minor_faults INTEGER, major_faults INTEGER, read_bytes INTEGER);
        CREATE TABLE threads(id INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT NOT \
        NULL, start_ns INTEGER NOT NULL, end_ns INTEGER, is_main INTEGER NOT NULL);
        CREATE TABLE modules(id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id BLOB NOT \
        NULL);
        CREATE TABLE mappings(id INTEGER PRIMARY KEY, start_address INTEGER NOT NULL, \
        end_address INTEGER NOT NULL, bias INTEGER NOT NULL, module INTEGER NOT NULL, \
        time_ns INTEGER NOT NULL);
        CREATE TABLE stacks(id INTEGER PRIMARY KEY, parent INTEGER, module INTEGER, address \
        INTEGER NOT NULL, kind INTEGER NOT NULL);
        CREATE TABLE slices(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, start_ns \
        INTEGER NOT NULL, running_ns INTEGER NOT NULL, runnable_ns INTEGER NOT NULL, \
        preempted_ns INTEGER NOT NULL, blocked_ns INTEGER NOT NULL, stack INTEGER, \
        system_call INTEGER, truncation INTEGER);
        CREATE TABLE libraries(id INTEGER PRIMARY KEY, path TEXT NOT NULL, file TEXT, \
        start_ns INTEGER NOT NULL, wall_ns INTEGER, size INTEGER NOT NULL, requested_by \
        TEXT, caller INTEGER, initial INTEGER NOT NULL);
        CREATE TABLE initializers(id INTEGER PRIMARY KEY, function INTEGER NOT NULL, thread \
        INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, cpu_ns \
        INTEGER NOT NULL, complete INTEGER NOT NULL);
        CREATE TABLE intervals(id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT \
        NOT NULL, subsystem TEXT NOT NULL, thread INTEGER, start_ns INTEGER NOT NULL, \
        end_ns INTEGER NOT NULL, complete INTEGER NOT NULL);
        CREATE TABLE signposts(id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT \
        NOT NULL, subsystem TEXT NOT NULL, thread INTEGER, time_ns INTEGER NOT NULL);
        CREATE TABLE ready(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, condition TEXT \
        NOT NULL);
        CREATE TABLE wait_reasons(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, detail TEXT, \
        owner INTEGER, place INTEGER);
        CREATE TABLE waits(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, start_ns \
        INTEGER NOT NULL, end_ns INTEGER NOT NULL, reason INTEGER NOT NULL, system_call \
        INTEGER NOT NULL, stack INTEGER);
        CREATE TABLE priorities(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, time_ns \
        INTEGER NOT NULL, policy INTEGER NOT NULL, nice INTEGER NOT NULL, real_time INTEGER \
        NOT NULL);
        CREATE TABLE runs(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, start_ns INTEGER \
        NOT NULL, data BLOB NOT NULL);
        CREATE TABLE wakeups(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, time_ns \
        INTEGER NOT NULL, waker INTEGER NOT NULL, waker_name TEXT NOT NULL, waker_thread \
        INTEGER, interrupt INTEGER NOT NULL);
        CREATE TABLE strings(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE symbols(id INTEGER PRIMARY KEY, module INTEGER, address INTEGER NOT \
        NULL, kind INTEGER NOT NULL, position INTEGER NOT NULL, function INTEGER, file \
        INTEGER, line INTEGER, inlined INTEGER NOT NULL, unoptimized INTEGER NOT NULL, \
        linkage_name INTEGER);
        CREATE TABLE module_symbols(id INTEGER PRIMARY KEY, module INTEGER NOT NULL, \
        debug_info_path TEXT, debug_info_origin TEXT, symbol_origin TEXT);
        CREATE TABLE module_remarks(id INTEGER PRIMARY KEY, module INTEGER NOT NULL, kind \
        TEXT NOT NULL, detail TEXT NOT NULL);
        INSERT INTO header VALUES(0, 7, 0, 'ptrace', 1000, 3, 0, 5, 0, 0, 'exited', 0, '0.1.0', \
        'switches', NULL);
        INSERT INTO notes VALUES(0, 'lost_waits', 2);
        INSERT INTO children VALUES(0, 8, 7, 'spin', 12, 19, 6, 'exited', 3, 'a.8.firstlight');
        INSERT INTO images VALUES(0, '/bin/sh', 11);
        INSERT INTO arguments VALUES(0, 0, 'sh');
        INSERT INTO marks VALUES(0, 1, 10, 4, 0, NULL);
        INSERT INTO marks VALUES(1, 6, 30, NULL, NULL, NULL);
        INSERT INTO threads VALUES(0, 7, 'sh', 10, 30, 1);
        INSERT INTO modules VALUES(0, '/bin/sh', x'0102');
        INSERT INTO mappings VALUES(0, 4096, 8192, 4096, 0, 11);
        INSERT INTO stacks VALUES(0, NULL, 0, 16, 0);
        INSERT INTO slices VALUES(0, 0, 11, 5, 0, 0, 2, 0, NULL, NULL);
        INSERT INTO libraries VALUES(0, 'libc.so.6', NULL, 11, NULL, 99, NULL, NULL, 1);
        INSERT INTO initializers VALUES(0, 0, 0, 11, 12, 1, 1);
        INSERT INTO intervals VALUES(0, 'load', 'launch', '', 0, 12, 13, 1);
        INSERT INTO signposts VALUES(0, 'tap', 'x', '', NULL, 14);
        """

    /// Never to be changed. A later version gets a text of its own.
    private static let version6 = """
        PRAGMA application_id = 1179404116;
        PRAGMA user_version = 6;
        CREATE TABLE header(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, attached INTEGER \
        NOT NULL, capture TEXT NOT NULL, frequency INTEGER NOT NULL, ticks INTEGER NOT NULL, \
        missed_ticks INTEGER NOT NULL, lateness_ns INTEGER NOT NULL, lost_samples INTEGER \
        NOT NULL, held_ns INTEGER NOT NULL, outcome TEXT, outcome_value INTEGER, \
        recorder_version TEXT NOT NULL, account TEXT, source TEXT);
        CREATE TABLE notes(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, value INTEGER NOT \
        NULL);
        CREATE TABLE children(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent INTEGER \
        NOT NULL, name TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER, cpu_ns \
        INTEGER, outcome TEXT, outcome_value INTEGER, file TEXT, parent_child INTEGER, \
        capture TEXT);
        CREATE TABLE images(id INTEGER PRIMARY KEY, path TEXT NOT NULL, time_ns INTEGER NOT \
        NULL, child INTEGER);
        CREATE TABLE arguments(id INTEGER PRIMARY KEY, image INTEGER NOT NULL, value TEXT \
        NOT NULL);
        CREATE TABLE marks(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time_ns INTEGER \
        NOT NULL, minor_faults INTEGER, major_faults INTEGER, read_bytes INTEGER, child \
        INTEGER);
        CREATE TABLE threads(id INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT NOT \
        NULL, start_ns INTEGER NOT NULL, end_ns INTEGER, is_main INTEGER NOT NULL, child \
        INTEGER);
        CREATE TABLE modules(id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id BLOB NOT \
        NULL);
        CREATE TABLE mappings(id INTEGER PRIMARY KEY, start_address INTEGER NOT NULL, \
        end_address INTEGER NOT NULL, bias INTEGER NOT NULL, module INTEGER NOT NULL, \
        time_ns INTEGER NOT NULL, child INTEGER);
        CREATE TABLE stacks(id INTEGER PRIMARY KEY, parent INTEGER, module INTEGER, address \
        INTEGER NOT NULL, kind INTEGER NOT NULL);
        CREATE TABLE slices(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, start_ns \
        INTEGER NOT NULL, running_ns INTEGER NOT NULL, runnable_ns INTEGER NOT NULL, \
        preempted_ns INTEGER NOT NULL, blocked_ns INTEGER NOT NULL, stack INTEGER, \
        system_call INTEGER, truncation INTEGER);
        CREATE TABLE libraries(id INTEGER PRIMARY KEY, path TEXT NOT NULL, file TEXT, \
        start_ns INTEGER NOT NULL, wall_ns INTEGER, size INTEGER NOT NULL, requested_by \
        TEXT, caller INTEGER, initial INTEGER NOT NULL, child INTEGER);
        CREATE TABLE initializers(id INTEGER PRIMARY KEY, function INTEGER NOT NULL, thread \
        INTEGER NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, cpu_ns INTEGER \
        NOT NULL, complete INTEGER NOT NULL);
        CREATE TABLE intervals(id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT \
        NULL, subsystem TEXT NOT NULL, thread INTEGER, start_ns INTEGER NOT NULL, end_ns \
        INTEGER NOT NULL, complete INTEGER NOT NULL, child INTEGER);
        CREATE TABLE signposts(id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT \
        NULL, subsystem TEXT NOT NULL, thread INTEGER, time_ns INTEGER NOT NULL, child \
        INTEGER);
        CREATE TABLE ready(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, condition TEXT \
        NOT NULL);
        CREATE TABLE wait_reasons(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, detail TEXT, \
        owner INTEGER, place INTEGER);
        CREATE TABLE waits(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, start_ns INTEGER \
        NOT NULL, end_ns INTEGER NOT NULL, reason INTEGER NOT NULL, system_call INTEGER NOT \
        NULL, stack INTEGER);
        CREATE TABLE priorities(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, time_ns \
        INTEGER NOT NULL, policy INTEGER NOT NULL, nice INTEGER NOT NULL, real_time INTEGER \
        NOT NULL);
        CREATE TABLE runs(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, start_ns INTEGER \
        NOT NULL, data BLOB NOT NULL);
        CREATE TABLE wakeups(id INTEGER PRIMARY KEY, thread INTEGER NOT NULL, time_ns \
        INTEGER NOT NULL, waker INTEGER NOT NULL, waker_name TEXT NOT NULL, waker_thread \
        INTEGER, interrupt INTEGER NOT NULL);
        CREATE TABLE strings(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE symbols(id INTEGER PRIMARY KEY, module INTEGER, address INTEGER NOT \
        NULL, kind INTEGER NOT NULL, position INTEGER NOT NULL, function INTEGER, file \
        INTEGER, line INTEGER, inlined INTEGER NOT NULL, unoptimized INTEGER NOT NULL, \
        linkage_name INTEGER);
        CREATE TABLE module_symbols(id INTEGER PRIMARY KEY, module INTEGER NOT NULL, \
        debug_info_path TEXT, debug_info_origin TEXT, symbol_origin TEXT);
        CREATE TABLE module_remarks(id INTEGER PRIMARY KEY, module INTEGER NOT NULL, kind \
        TEXT NOT NULL, detail TEXT NOT NULL);
        INSERT INTO header VALUES(0, 7, 0, 'event', 1000, 3, 0, 5, 0, 0, 'exited', 0, '0.1.0', \
        'wakeups', NULL);
        INSERT INTO notes VALUES(0, 'lost_waits', 2);
        INSERT INTO children VALUES(0, 8, 7, 'spin', 12, 19, 6, 'exited', 3, NULL, NULL, 'event');
        INSERT INTO images VALUES(0, '/bin/sh', 11, NULL);
        INSERT INTO images VALUES(1, '/bin/spin', 13, 0);
        INSERT INTO arguments VALUES(0, 0, 'sh');
        INSERT INTO arguments VALUES(1, 1, 'spin');
        INSERT INTO marks VALUES(0, 1, 10, 4, 0, NULL, NULL);
        INSERT INTO marks VALUES(1, 6, 30, NULL, NULL, NULL, NULL);
        INSERT INTO marks VALUES(2, 1, 12, NULL, NULL, NULL, 0);
        INSERT INTO threads VALUES(0, 7, 'sh', 10, 30, 1, NULL);
        INSERT INTO threads VALUES(1, 8, 'spin', 12, 19, 1, 0);
        INSERT INTO modules VALUES(0, '/bin/sh', x'0102');
        INSERT INTO mappings VALUES(0, 4096, 8192, 4096, 0, 11, 0);
        INSERT INTO stacks VALUES(0, NULL, 0, 16, 0);
        INSERT INTO slices VALUES(0, 1, 12, 5, 0, 0, 2, 0, NULL, NULL);
        INSERT INTO libraries VALUES(0, 'libc.so.6', NULL, 11, NULL, 99, NULL, NULL, 1, 0);
        INSERT INTO initializers VALUES(0, 0, 0, 11, 12, 1, 1);
        INSERT INTO intervals VALUES(0, 'load', 'launch', '', 0, 12, 13, 1, NULL);
        INSERT INTO signposts VALUES(0, 'tap', 'x', '', NULL, 14, 0);
        INSERT INTO runs VALUES(0, 1, 12, x'1403');
        INSERT INTO wakeups VALUES(0, 1, 12, 7, '', 0, 0);
        """

    /// Never to be changed. A later version gets a text of its own.
    private static let version8 = """
        PRAGMA application_id = 1179404116;
        PRAGMA user_version = 8;
        CREATE TABLE header(id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, attached INTEGER \
        NOT NULL, capture TEXT NOT NULL, frequency INTEGER NOT NULL, ticks INTEGER NOT \
        NULL, missed_ticks INTEGER NOT NULL, lateness_ns INTEGER NOT NULL, lost_samples \
        INTEGER NOT NULL, held_ns INTEGER NOT NULL, outcome TEXT, outcome_value INTEGER, \
        recorder_version TEXT NOT NULL, account TEXT, source TEXT);
        CREATE TABLE chunks(id INTEGER PRIMARY KEY, name TEXT NOT NULL, rows INTEGER NOT \
        NULL, size INTEGER NOT NULL, data BLOB NOT NULL);
        INSERT INTO header VALUES(0, 7, 0, 'event', 1000, 3, 0, 5, 0, 0, 'exited', 0, \
        '0.1.0', 'wakeups', NULL);
        INSERT INTO chunks VALUES(0, 'notes', 1, 14, x'02010A6C6F73745F776169747306');
        INSERT INTO chunks VALUES(1, 'children', 1, 30, \
        x'02121001047370696E1A280E010665786974656408000001056576656E74');
        INSERT INTO chunks VALUES(2, 'images', 2, 26, \
        x'020401072F62696E2F736801092F62696E2F7370696E18060002');
        INSERT INTO chunks VALUES(3, 'arguments', 2, 14, x'020402040102736801047370696E');
        INSERT INTO chunks VALUES(4, 'marks', 3, 21, \
        x'020404040C0B162A250A0000020000000000000002');
        INSERT INTO chunks VALUES(5, 'threads', 2, 22, \
        x'020410040102736801047370696E16063E1704020002');
        INSERT INTO chunks VALUES(6, 'modules', 1, 13, x'0201072F62696E2F7368030102');
        INSERT INTO chunks VALUES(7, 'mappings', 1, 9, x'028240824002021802');
        INSERT INTO chunks VALUES(8, 'stacks', 1, 5, x'0200022202');
        INSERT INTO chunks VALUES(9, 'slices', 1, 10, x'02041A0C020206020000');
        INSERT INTO chunks VALUES(10, 'libraries', 1, 21, \
        x'0201096C6962632E736F2E36001800C80100000402');
        INSERT INTO chunks VALUES(11, 'initializers', 1, 7, x'020202181A0404');
        INSERT INTO chunks VALUES(12, 'intervals', 1, 22, \
        x'0201046C6F616401066C61756E63680100021A1C0400');
        INSERT INTO chunks VALUES(13, 'signposts', 1, 14, x'0201037461700101780100001E02');
        INSERT INTO chunks VALUES(14, 'ready', 1, 8, x'022A010469646C65');
        INSERT INTO chunks VALUES(15, 'wait_reasons', 1, 11, x'020105736C656570000000');
        INSERT INTO chunks VALUES(16, 'waits', 1, 7, x'02041C20024802');
        INSERT INTO chunks VALUES(17, 'priorities', 1, 6, x'02041A020C02');
        INSERT INTO chunks VALUES(18, 'runs', 1, 6, x'02041A031403');
        INSERT INTO chunks VALUES(19, 'wakeups', 1, 8, x'02041A1001000202');
        INSERT INTO chunks VALUES(20, 'strings', 1, 7, x'0201046D61696E');
        INSERT INTO chunks VALUES(21, 'symbols', 1, 11, x'0202220202020008020200');
        INSERT INTO chunks VALUES(22, 'module_symbols', 1, 12, x'02020000010673796D746162');
        INSERT INTO chunks VALUES(23, 'library_references', 1, 3, x'020204');
        """

    /// The same columns, but no table of references.
    private static let version7 = version8.replacing("user_version = 8", with: "user_version = 7")
        .replacing(/INSERT INTO chunks VALUES\(23.*/, with: "")

    /// The same columns. Only values are new: a kind of mark, and kinds of waits.
    private static let version9 = version8.replacing("user_version = 8", with: "user_version = 9")

    private func old(
        _ scratch: Scratch, _ text: String = Self.version5, as name: String = "old"
    ) throws -> String {
        let path = scratch.path(name)
        var database: OpaquePointer?
        #expect(sqlite3_open(path, &database) == SQLITE_OK)
        #expect(sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK)
        #expect(sqlite3_close(database) == SQLITE_OK)
        return path
    }

    @Test func version5IsRead() throws {
        let scratch = try Scratch()
        let recording = try RecordingReader.load(path: try old(scratch))
        let child = try #require(recording.children.first)
        #expect(child.pid == 8 && child.parent == 7 && child.parentIndex == nil)
        #expect(child.file == "a.8.firstlight" && child.outcome == .exited(3))
        #expect(child.end?.nanoseconds == 19 && child.cpu?.nanoseconds == 6)
        #expect(child.capture == nil && child.images.isEmpty && child.borders.isEmpty)
        #expect(recording.images.map(\.arguments) == [["sh"]])
        #expect(recording.borders.map(\.kind) == [.spawned, .ended])
        #expect(recording.threads.map(\.child) == [nil])
        #expect(recording.mappings.map(\.bias) == [4096])
        #expect(recording.slices.map(\.times.wall.nanoseconds) == [7])
        #expect(recording.libraries.map(\.child) == [nil])
        #expect(recording.intervals.map(\.name) == ["load"])
        #expect(recording.signposts.map(\.child) == [nil])
    }

    /// One recording has all processes.
    @Test func version6IsRead() throws {
        let scratch = try Scratch()
        let path = try old(scratch, Self.version6)
        let recording = try RecordingReader.load(path: path)
        let child = try #require(recording.children.first)
        #expect(child.pid == 8 && child.parentIndex == nil && child.file == nil)
        #expect(child.capture == .tree && child.images.map(\.arguments) == [["spin"]])
        #expect(child.borders.map(\.time.nanoseconds) == [12])
        #expect(recording.borders.count == 2 && recording.images.count == 1)
        #expect(recording.threads.map(\.child) == [nil, ChildIndex(0)])
        #expect(recording.mappings.map(\.child) == [ChildIndex(0)])
        #expect(recording.slices.map(\.thread) == [ThreadIndex(1)])
        #expect(recording.libraries.map(\.child) == [ChildIndex(0)])
        #expect(recording.signposts.map(\.child) == [ChildIndex(0)])
        #expect(recording.runs.map(\.end.nanoseconds) == [17])
        #expect(recording.wakeups.map(\.wakerThread) == [ThreadIndex(0)])
    }

    /// Rows are packed.
    @Test(arguments: [version7, version8, version9])
    func packedVersionsAreRead(text: String) throws {
        let scratch = try Scratch()
        let recording = try RecordingReader.load(path: try old(scratch, text))
        #expect(recording.libraries.map(\.isReferenced) == [text == Self.version7 ? nil : true])
        let former = try RecordingReader.load(path: try old(scratch, Self.version6, as: "former"))
        var same = recording
        same.libraries[0].isReferenced = nil
        #expect(same.ready == Readiness(time: MonotonicTime(nanoseconds: 20), by: "idle"))
        #expect(same.waits.map(\.reason) == [WaitReason(.sleep)])
        #expect(same.priorities.map(\.nice) == [5])
        #expect(same.symbols.frames.values.map { $0.map(\.function) } == [["main"]])
        #expect(same.symbols.modules.values.map(\.symbolOrigin) == [.complete])
        (same.ready, same.waits, same.priorities) = (nil, [], [])
        same.symbols = SymbolTable()
        expectEqual(same, former)
    }

    /// With plain tables again, the recording is the same.
    @Test func anyVersionCanBeUnpacked() throws {
        let scratch = try Scratch()
        for text in [Self.version5, Self.version6, Self.version7] {
            let path = try old(scratch, text)
            writeBytes(try RecordingFile.unpacked(path), to: scratch.path("plain"))
            expectEqual(
                try RecordingReader.load(path: scratch.path("plain")),
                try RecordingReader.load(path: path))
            unlink(path)
        }
        var random = RandomRecording(seed: 3)
        var recording = random.make()
        try savePlain(recording, to: scratch.path("new"))
        // In a table that SQL sees, and that no version of the recording's had.
        for row in recording.libraries.indices { recording.libraries[row].isReferenced = nil }
        expectEqual(try RecordingReader.load(path: scratch.path("new")), recording)
    }

    /// The file keeps its version.
    @Test(arguments: [version5, version6, version7, version8, version9])
    func oldOnesTakeSymbols(text: String) throws {
        let scratch = try Scratch()
        let path = try old(scratch, text)
        var symbols = SymbolTable()
        let frame = FrameAddress(module: ModuleIndex(0), address: CodeAddress(16, .instruction))
        symbols.frames[frame] = [
            SourceFrame(function: "main", file: nil, line: nil, isInlined: false)
        ]
        try RecordingFile.store(symbols, in: path)
        let recording = try RecordingReader.load(path: path)
        #expect(recording.symbols.frames == symbols.frames)
        #expect(recording.children.count == 1)
    }

    /// A file that says one version and is laid out as another is no recording of ours.
    @Test func versionsAreNotMixed() throws {
        let scratch = try Scratch()
        let path = try old(scratch)
        execute("PRAGMA user_version = 6", on: path)
        guard case .damaged? = loadError(path) else {
            Issue.record("a file of version 5 passed as one of version 6")
            return
        }
    }
}
