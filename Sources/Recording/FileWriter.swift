import Glibc
import System

/// The common part of all writers: how a file is made, locked, and always kept readable.
///
/// A transaction is always open. Written data are safe after the next ``commit()``. The first error
/// ends the writing: uncommitted data are dropped, and every later call throws the same error.
final class FileWriter {
    private let database: Database
    private let beginning: Statement
    private let committing: Statement
    private var failure: RecordingError?
    /// The identity of the file that was created, even if another file has its path now.
    let identity: RecordingFile.Identity?

    /// True if the file is still where it was made.
    ///
    /// - Parameter path: where it was made.
    func isInPlace(at path: String) -> Bool {
        identity != nil && RecordingFile.Identity(of: path) == identity
    }

    /// Creates the file, readable only by its owner (mode 0600), with the kind's tables, and the
    /// rows that `writeFirst` adds. The file must not exist.
    init(
        creating path: String, _ kind: FileKind,
        _ writeFirst: (Database) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        identity = try Self.create(path)
        do {
            database = try Database(opening: path, for: .write)
            try Self.layOut(database, kind, writeFirst)
            beginning = try database.prepare("BEGIN")
            committing = try database.prepare("COMMIT")
            try database.execute("BEGIN")
        } catch {
            unlink(path)
            throw error.ofCreation
        }
    }

    deinit { database.close() }

    private static func create(
        _ path: String
    ) throws(RecordingError) -> RecordingFile.Identity? {
        // SQLite would use the umask for the mode; the content is private.
        do throws(Errno) {
            let file = try Descriptor(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, mode: 0o600)
            return RecordingFile.Identity(descriptor: file.number)
        } catch {
            throw .cannotCreate(path: path, errno: error.number)
        }
    }

    /// Measured (1,000 rows per commit, page cache): DELETE with an exclusive lock 28 µs per
    /// commit, with a shared one 48 µs, TRUNCATE 36 µs, WAL 36 µs but up to 5 ms at a checkpoint.
    /// DELETE leaves one file after a normal end, and one with a journal after a kill. There is no
    /// sync: it would protect from a power cut, and cost more than the launch.
    private static func layOut(
        _ database: Database, _ kind: FileKind,
        _ writeFirst: (Database) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        // Chunks begin new pages: with larger pages, more space would stay empty.
        if kind == .recording { try database.execute("PRAGMA page_size = 1024") }
        try database.execute("PRAGMA locking_mode = EXCLUSIVE")
        try database.execute("PRAGMA journal_mode = DELETE")
        try database.execute("PRAGMA synchronous = OFF")
        try database.execute("BEGIN")
        try database.create(kind.tables, of: kind)
        try writeFirst(database)
        try database.execute("COMMIT")
    }

    /// Prepares statements. If that fails, the file is removed.
    func prepare<Statements>(
        _ body: (Database) throws(RecordingError) -> Statements
    ) throws(RecordingError) -> Statements {
        do {
            return try body(database)
        } catch {
            database.close()
            unlink(database.path)
            throw error.ofCreation
        }
    }

    /// Checks a rule: values that no reader would accept are not written.
    func check(_ body: () throws(Inconsistency) -> Void) throws(RecordingError) {
        if let failure { throw failure }
        do {
            try Consistency.attempt(database.path, body)
        } catch {
            throw fail(error)
        }
    }

    func write(_ body: () throws(SQLiteFailure) -> Void) throws(RecordingError) {
        if let failure { throw failure }
        do {
            try database.attempt(body)
        } catch {
            throw fail(error)
        }
    }

    private func fail(_ error: RecordingError) -> RecordingError {
        failure = error
        // Rolls back uncommitted data, and releases the file.
        database.close()
        return error
    }

    /// Takes ~30 µs, plus the time to write the changed pages.
    func commit() throws(RecordingError) {
        try write { () throws(SQLiteFailure) in
            try committing.run()
            try beginning.run()
        }
    }

    /// Commits, and closes the file, which deletes the journal. Nothing can be written afterwards.
    func end() throws(RecordingError) {
        try write { () throws(SQLiteFailure) in try committing.run() }
        database.close()
        failure = .refused(path: database.path, detail: "the writing has ended")
    }
}

extension Consistency {
    /// Runs `body` for the writer of `path`.
    static func attempt(
        _ path: String, _ body: () throws(Inconsistency) -> Void
    ) throws(RecordingError) {
        do {
            try body()
        } catch {
            throw .refused(path: path, detail: error.detail)
        }
    }
}

extension Database {
    func create(_ tables: [TableLayout], of kind: FileKind) throws(RecordingError) {
        try execute("PRAGMA application_id = \(Schema.applicationID)")
        try execute("PRAGMA user_version = \(kind.userVersion)")
        for table in tables { try execute(table.creation) }
    }

    /// Runs `body`, and translates its failure for the user.
    func attempt<Result>(
        _ body: () throws(SQLiteFailure) -> Result
    ) throws(RecordingError) -> Result {
        do {
            return try body()
        } catch {
            throw self.error(error)
        }
    }
}
