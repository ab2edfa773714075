import Glibc
import System

/// What the writers of all kinds of file have in common: how a file is made, locked, and kept
/// readable whatever happens.
///
/// There is always a transaction open; what was written is safe from the next ``commit()`` on. The
/// first error ends the writing: what was not committed is dropped, and every later call throws
/// the same error.
final class FileWriter {
    private let database: Database
    private let beginning: Statement
    private let committing: Statement
    private var failure: RecordingError?
    /// Of the file that was created, whatever is at its path by now.
    let identity: RecordingFile.Identity?

    /// Whether the file is still where it was made, and nothing else.
    ///
    /// - Parameter path: where it was made.
    func isInPlace(at path: String) -> Bool {
        identity != nil && RecordingFile.Identity(of: path) == identity
    }

    /// Creates the file, for its owner alone (mode 0600), with the kind's tables and the rows that
    /// `writeFirst` puts into them. It must not exist.
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
        // SQLite would create it with the umask's mode; what it holds is nobody else's business.
        do throws(Errno) {
            let file = try Descriptor(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, mode: 0o600)
            return RecordingFile.Identity(descriptor: file.number)
        } catch {
            throw .cannotCreate(path: path, errno: error.number)
        }
    }

    /// Measured (1,000 rows a commit, page cache): DELETE with an exclusive lock 28 µs a commit,
    /// with a shared one 48 µs, TRUNCATE 36 µs, WAL 36 µs but up to 5 ms at a checkpoint. DELETE
    /// leaves one file after a normal end and one with a journal after a kill.
    /// No sync: it would guard against a power cut, and cost more than the launch.
    private static func layOut(
        _ database: Database, _ kind: FileKind,
        _ writeFirst: (Database) throws(RecordingError) -> Void
    ) throws(RecordingError) {
        // Chunks begin pages of their own: larger ones would leave more of them empty.
        if kind == .recording { try database.execute("PRAGMA page_size = 1024") }
        try database.execute("PRAGMA locking_mode = EXCLUSIVE")
        try database.execute("PRAGMA journal_mode = DELETE")
        try database.execute("PRAGMA synchronous = OFF")
        try database.execute("BEGIN")
        try database.createTables(of: kind, kind.version)
        try writeFirst(database)
        try database.execute("COMMIT")
    }

    /// Prepares statements. Where that fails, there is no file.
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

    /// Runs a rule: what no reader would accept is not written.
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
        // Rolls back what was not committed, and lets go of the file.
        database.close()
        return error
    }

    /// ~30 µs and the writing of the changed pages.
    func commit() throws(RecordingError) {
        try write { () throws(SQLiteFailure) in
            try committing.run()
            try beginning.run()
        }
    }

    /// Commits, and closes the file: that deletes the journal. Nothing can be written any more.
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
    /// - Parameter version: of the kind's schema.
    func createTables(of kind: FileKind, _ version: Int32) throws(RecordingError) {
        try execute("PRAGMA application_id = \(Schema.applicationID)")
        try execute("PRAGMA user_version = \(kind.userVersion(version))")
        for table in kind.tables(asOf: version) { try execute(table.creation) }
    }

    /// Runs `body`, with its failure in the words for the user.
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
