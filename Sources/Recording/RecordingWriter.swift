package import ProfileModel

/// Writes a recording file while the recording goes on.
///
/// Appended rows are safe after the next ``commit()``: even if this process is killed, the file can
/// be read up to there. The file is locked against other processes until ``finish(_:)``, so that
/// none can delay the recorder. Use it from one thread at a time.
///
/// The first error ends the writing: uncommitted data are dropped, and every later call throws the
/// same error. Values that no reader would accept are refused, see ``Consistency``.
package final class RecordingWriter {
    private let file: FileWriter
    private let header: Statement
    let rows: WaitingRows
    var symbols: SymbolRows
    var rules = Consistency()
    /// The rows of the reasons written so far.
    var waitReasons: [WaitReason: Int] = [:]
    /// New or changed values since the last commit, by row. Most change several times before a
    /// commit, and are then written only once.
    var changedChildren: [Int: ChildProcess] = [:]
    var changedThreads: [Int: RecordedThread] = [:]
    /// Each thread's runs that are not written yet.
    var openRuns: [ThreadIndex: RunChunk] = [:]

    /// Creates the file, readable only by its owner (mode 0600), with the tables and the header.
    /// The file must not exist: see ``RecordingFile/keepOlder(at:)``.
    package init(creating path: String, header: Recording.Header) throws(RecordingError) {
        try Consistency.attempt(path) { () throws(Inconsistency) in try HeaderTable.check(header) }
        file = try FileWriter(creating: path, .recording) { database throws(RecordingError) in
            let insertion = try database.prepare(HeaderTable.layout.insertion)
            try database.attempt { () throws(SQLiteFailure) in
                try insertion.write(header, HeaderTable.self, at: 0)
            }
        }
        (self.header, rows) = try file.prepare { database throws(RecordingError) in
            // The header changes during the recording.
            (try database.prepare(HeaderTable.layout.replacement), try WaitingRows(database))
        }
        symbols = SymbolRows(strings: rows.strings.waiting, symbols: rows.symbols.waiting)
    }

    /// The identity of the file that was created, even if another file has its path now.
    package var identity: RecordingFile.Identity? { file.identity }

    /// Makes everything appended so far permanent. Takes ~30 µs, plus the time to write the changed
    /// pages.
    package func commit() throws(RecordingError) {
        try flush()
        try file.commit()
    }

    private func flush() throws(RecordingError) {
        try flushRuns()
        try write { () throws(SQLiteFailure) in
            for (row, child) in changedChildren.sorted(by: { $0.key < $1.key }) {
                try rows.children.write(child, at: row)
            }
            for (row, thread) in changedThreads.sorted(by: { $0.key < $1.key }) {
                try rows.threads.write(thread, at: row)
            }
            for table in rows.all { try table.flush() }
        }
        changedChildren.removeAll(keepingCapacity: true)
        changedThreads.removeAll(keepingCapacity: true)
    }

    /// Writes the final header, commits, and closes the file.
    package func finish(_ header: Recording.Header) throws(RecordingError) {
        try check { () throws(Inconsistency) in try HeaderTable.check(header) }
        try flush()
        try write { () throws(SQLiteFailure) in
            try self.header.write(header, HeaderTable.self, at: 0)
        }
        try file.end()
    }
}

/// Each table's own file contains its `append`.
extension RecordingWriter {
    /// Appends all of a recording except its header, which ``finish(_:)`` writes, and its symbols,
    /// which ``RecordingFile/store(_:references:in:)`` writes. Refused if anything was appended
    /// before: rows refer to other rows by their place in the recording.
    package func append(_ recording: Recording) throws(RecordingError) {
        try flush()
        try check { () throws(Inconsistency) in
            for rows in rows.all where rows.count > 0 {
                throw RowPlace(table: rows.table, row: 0).problem("precedes a whole recording")
            }
        }
        for table in Schema.packed { try table.save(recording, to: self) }
    }

    func append<T: RecordingTable>(
        _ value: T.Value, to rows: TableRows<T>
    ) throws(RecordingError) where T.Ruled == T.Value {
        let row = rows.count
        try admit(value, T.self, at: row)
        try write { () throws(SQLiteFailure) in try rows.write(value, at: row) }
    }

    func admit<T: RecordingTable>(
        _ value: T.Ruled, _: T.Type, at row: Int
    ) throws(RecordingError) {
        try check { () throws(Inconsistency) in
            try T.admit(value, at: RowPlace(table: T.tableName, row: row), by: &rules)
        }
    }

    func check(_ body: () throws(Inconsistency) -> Void) throws(RecordingError) {
        try file.check(body)
    }

    func write(_ body: () throws(SQLiteFailure) -> Void) throws(RecordingError) {
        try file.write(body)
    }
}

/// The waiting rows of a ``RecordingWriter``, by table.
struct WaitingRows {
    let notes: TableRows<NotesTable>
    let children: TableRows<ChildrenTable>
    let images: TableRows<ImagesTable>
    let arguments: TableRows<ArgumentsTable>
    let borders: TableRows<LaunchBordersTable>
    let threads: TableRows<ThreadsTable>
    let modules: TableRows<ModulesTable>
    let mappings: TableRows<MappingsTable>
    let stacks: TableRows<StacksTable>
    let slices: TableRows<SlicesTable>
    let libraries: TableRows<LibrariesTable>
    let initializers: TableRows<InitializersTable>
    let intervals: TableRows<IntervalsTable>
    let signposts: TableRows<SignpostsTable>
    let ready: TableRows<ReadyTable>
    let waitReasons: TableRows<WaitReasonsTable>
    let waits: TableRows<WaitsTable>
    let priorities: TableRows<PrioritiesTable>
    let runs: TableRows<RunsTable>
    let wakeups: TableRows<WakeupsTable>
    let strings: TableRows<StringsTable>
    let symbols: TableRows<SymbolsTable>
    /// Tables that other tables refer to come first.
    let all: [PackedRows]

    init(_ database: Database) throws(RecordingError) {
        let chunks = try ChunkWriter(database)
        var all: [PackedRows] = []
        func table<T: Table>() -> TableRows<T> {
            let rows = TableRows<T>(chunks)
            all.append(rows.waiting)
            return rows
        }
        (notes, children, images, arguments) = (table(), table(), table(), table())
        (borders, threads, modules, mappings) = (table(), table(), table(), table())
        (stacks, slices, libraries, initializers) = (table(), table(), table(), table())
        (intervals, signposts, ready, waitReasons) = (table(), table(), table(), table())
        (waits, priorities, runs, wakeups) = (table(), table(), table(), table())
        (strings, symbols) = (table(), table())
        self.all = all
    }
}
