import CSQLite
import Glibc

/// A connection to a recording file that trusts nothing in the file.
final class Database {
    enum Purpose {
        case read, write
    }

    /// The limit for a text or a whole row, in bytes. All arguments of a program are shorter.
    static let longestValue: Int32 = 4 << 20

    /// As given by the user, for messages.
    let path: String
    private let purpose: Purpose
    /// Whether its rows are packed.
    var hasChunks = false
    private var handle: OpaquePointer?

    /// Opens an existing file.
    ///
    /// Even a reader asks for write access (SQLite falls back to reading where it is denied). So
    /// the incomplete transaction of a killed recorder is undone when the file is next opened.
    init(opening path: String, for purpose: Purpose) throws(RecordingError) {
        self.path = path
        self.purpose = purpose
        // Debian's SQLite takes "file:…" for a URI, and ":memory:" would not be a file.
        var name = path.hasPrefix("/") ? path : "./" + path
        var flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // We have just made the file. A user with write access to the folder could have replaced it
        // by a link. The folder itself may be reached through links.
        if purpose == .write, let placed = RecordingFile.placed(name) {
            name = placed
            flags |= SQLITE_OPEN_NOFOLLOW
        }
        let code = sqlite3_open_v2(name, &handle, flags, nil)
        do throws(RecordingError) {
            guard code == SQLITE_OK else { throw error(SQLiteFailure(code: code)) }
            try distrust()
        } catch {
            close()
            throw error
        }
    }

    /// A file in memory, only for ``contents``.
    ///
    /// - Parameter path: for messages.
    init(inMemoryFor path: String) throws(RecordingError) {
        (self.path, purpose) = (path, .write)
        let code = sqlite3_open_v2(
            ":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
            nil)
        guard code == SQLITE_OK else {
            let failure = error(SQLiteFailure(code: code))
            close()
            throw failure
        }
    }

    /// The bytes of the file in memory.
    func contents() throws(RecordingError) -> [UInt8] {
        var size: sqlite3_int64 = 0
        guard let bytes = sqlite3_serialize(handle, "main", &size, 0) else {
            throw error(SQLiteFailure(code: SQLITE_NOMEM))
        }
        defer { sqlite3_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
    }

    deinit { close() }

    private func distrust() throws(RecordingError) {
        guard let handle else { return }
        let options: [(option: Int32, on: Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
            (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (SQLITE_DBCONFIG_ENABLE_VIEW, 0),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
        ]
        for (option, on) in options {
            let code = csqlite_configure(handle, option, on)
            guard code == SQLITE_OK else { throw error(SQLiteFailure(code: code)) }
        }
        let limits: [(limit: Int32, value: Int32)] = [
            (SQLITE_LIMIT_LENGTH, Self.longestValue), (SQLITE_LIMIT_SQL_LENGTH, 64 << 10),
            (SQLITE_LIMIT_COLUMN, 64), (SQLITE_LIMIT_EXPR_DEPTH, 64),
            (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (SQLITE_LIMIT_VDBE_OP, 10_000),
        ]
        for (limit, value) in limits { sqlite3_limit(handle, limit, value) }
        // With memory mapping, we would die of SIGBUS if another process truncates the file.
        try execute("PRAGMA mmap_size = 0")
        try execute("PRAGMA cell_size_check = ON")
        // A temporary file would be opened late, and there may be no room for it.
        try execute("PRAGMA temp_store = MEMORY")
    }

    /// Ends every statement and the connection. Does nothing the second time.
    func close() {
        guard let handle else { return }
        while let statement = sqlite3_next_stmt(handle, nil) { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
        self.handle = nil
    }

    func execute(_ sql: String) throws(RecordingError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(SQLiteFailure(code: code)) }
    }

    func prepare(_ sql: String) throws(RecordingError) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(SQLiteFailure(code: code)) }
        return Statement(handle: statement)
    }

    /// Waits up to `milliseconds` for another process's lock, before ``RecordingError/inUse`` is
    /// thrown.
    func wait(milliseconds: Int32) {
        sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Translates a result code for the user.
    func error(_ failure: SQLiteFailure) -> RecordingError {
        switch failure.code & 0xFF {
        case SQLITE_FULL: .full(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .inUse(path: path)
        case SQLITE_READONLY: readOnlyError(failure.code)
        case SQLITE_CANTOPEN: .cannotOpen(path: path, errno: systemError)
        case SQLITE_PERM, SQLITE_AUTH: .cannotOpen(path: path, errno: EACCES)
        case SQLITE_NOMEM: inputOutputError(ENOMEM)
        case SQLITE_IOERR: inputOutputError(systemError)
        case SQLITE_TOOBIG: tooLong
        // SQLite's message may quote the file; SQLite's name for the code does not.
        default: .damaged(path: path, detail: String(cString: sqlite3_errstr(failure.code)))
        }
    }

    private func inputOutputError(_ errno: Int32) -> RecordingError {
        switch (errno, purpose) {
        case (ENOSPC, _), (EDQUOT, _): .full(path: path)
        case (_, .read): .cannotRead(path: path, errno: errno)
        case (_, .write): .cannotWrite(path: path, errno: errno)
        }
    }

    /// A value beyond ``longestValue``.
    private var tooLong: RecordingError {
        switch purpose {
        case .read: .damaged(path: path, detail: "a value is too long")
        case .write: .refused(path: path, detail: "a value is too long")
        }
    }

    /// The `errno` of the last failed system call; 0 if there was none.
    private var systemError: Int32 {
        let number = sqlite3_system_errno(handle)
        guard number == 0, purpose == .write else { return number }
        // SQLite keeps no error number of a failed write. A full disk has its own code.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        return limit.rlim_cur == rlim_t.max ? 0 : EFBIG
    }

    private func readOnlyError(_ code: Int32) -> RecordingError {
        // SQLITE_READONLY_RECOVERY, _ROLLBACK, _CANTINIT, _DIRECTORY
        switch (code >> 8, purpose) {
        case (1, _), (3, _), (_, .read): .needsRollback(path: path)
        case (_, .write): .cannotWrite(path: path, errno: EACCES)
        }
    }
}
