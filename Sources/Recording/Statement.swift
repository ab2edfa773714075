import CSQLite

/// A result code of SQLite (an extended one, see sqlite.org/rescode.html). ``Database/error(_:)``
/// turns it into the error that users see.
struct SQLiteFailure: Error {
    var code: Int32
}

/// A prepared statement. Its ``Database`` owns it: using it after `close()` is an error.
struct Statement: RowTarget {
    let handle: OpaquePointer

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    /// `index` counts from 1 here and in the other `bind`s, like SQLite's parameters.
    func bind(_ index: Int32, _ value: Int64?) throws(SQLiteFailure) {
        guard let value else { return try check(sqlite3_bind_null(handle, index)) }
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ index: Int32, _ value: String?) throws(SQLiteFailure) {
        guard var text = value else { return try check(sqlite3_bind_null(handle, index)) }
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                csqlite_bind_text(
                    handle, index, characters.baseAddress, Int32(clamping: characters.count))
            }
        }
        try check(code)
    }

    func bind(_ index: Int32, _ value: [UInt8]) throws(SQLiteFailure) {
        let code = value.withUnsafeBytes { bytes in
            csqlite_bind_blob(handle, index, bytes.baseAddress, Int32(clamping: bytes.count))
        }
        try check(code)
    }

    /// True if there is a row to read; false at the end. Then the statement can be run again.
    func step() throws(SQLiteFailure) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            sqlite3_reset(handle)
            return false
        case let code:
            sqlite3_reset(handle)
            throw SQLiteFailure(code: code)
        }
    }

    /// Skips the rows that were not read.
    func reset() { sqlite3_reset(handle) }

    /// Runs a statement that yields no rows.
    func run() throws(SQLiteFailure) {
        while try step() {}
    }
}

/// Reads the current row. Each value is nil if it has another type.
extension Statement {
    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    func integer(_ column: Int32) -> Int64? {
        guard sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(handle, column)
    }

    /// The bytes of a text, valid until the next step; nil also if memory ran out.
    func text(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
        guard sqlite3_column_type(handle, column) == SQLITE_TEXT,
            let bytes = sqlite3_column_text(handle, column)
        else { return nil }
        return UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func blob(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard sqlite3_column_type(handle, column) == SQLITE_BLOB else { return nil }
        let bytes = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(
            start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
    }
}
