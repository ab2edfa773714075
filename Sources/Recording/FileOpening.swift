import Glibc

extension TableReader {
    /// Calls `body` for the file at `path`, which must be of this kind. The memory used is in
    /// proportion to the file's size.
    static func read<Value>(
        _ path: String, _ kind: FileKind,
        _ body: (inout TableReader) throws(ReadFailure) -> Value
    ) throws(RecordingError) -> Value {
        let database = try Database.open(path, kind, for: .read)
        defer { database.close() }
        var reader = TableReader(database: database, byteBudget: try fileSize(path))
        do {
            return try body(&reader)
        } catch {
            switch error {
            case .failure(let failure): throw database.error(failure)
            case .inconsistency(let found): throw .damaged(path: path, detail: found.detail)
            }
        }
    }

    private static func fileSize(_ path: String) throws(RecordingError) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .cannotRead(path: path, errno: errno) }
        return Int(status.st_size)
    }
}

extension Database {
    /// Opens a file, and checks that it is of this kind and of our schema. All reading is in
    /// one transaction, which ends with the connection.
    static func open(
        _ path: String, _ kind: FileKind, for purpose: Purpose
    ) throws(RecordingError) -> Database {
        let start = try FileStart(of: path, expecting: kind)
        try start.check(is: kind, path)
        // SQLite also resolves links, and looks for the journal next to the real file.
        if let journal = realPath(path).map(RecordingFile.journalPath),
            Journal.namesAnotherFile(journal)
        {
            throw .damaged(path: path, detail: "its journal refers to another file")
        }
        let database = try Database(opening: path, for: purpose)
        do {
            database.wait(milliseconds: 500)
            // No sync, as for the recorder: it would only protect from a power cut.
            try database.execute("PRAGMA synchronous = OFF")
            try database.execute(purpose == .read ? "BEGIN" : "BEGIN IMMEDIATE")
            if kind == .recording { database.hasChunks = try database.has(ChunksTable.self) }
            let isPlain = kind == .recording && !database.hasChunks
            try database.checkTables(isPlain ? Schema.plainTables : kind.tables)
        } catch {
            database.close()
            throw error
        }
        // Only now: opening has undone the incomplete transaction of a killed recorder.
        guard !start.isCutShort(path) else {
            database.close()
            throw .damaged(path: path, detail: "it was cut short")
        }
        return database
    }

    private func has(_ table: (some Table).Type) throws(RecordingError) -> Bool {
        let query = try prepare("SELECT 1 FROM sqlite_schema WHERE name = '\(table.tableName)'")
        defer { query.reset() }
        return try attempt { () throws(SQLiteFailure) in try query.step() }
    }

    /// Every table must be declared exactly as we declare it. So there is no view, virtual table,
    /// generated column or trigger that could run.
    private func checkTables(_ tables: [TableLayout]) throws(RecordingError) {
        let query = try prepare(
            "SELECT sql FROM sqlite_schema WHERE name = ?1 AND type = 'table'")
        for table in tables {
            let declaration = try attempt { () throws(SQLiteFailure) in
                try query.bind(1, table.name)
                return try query.step()
                    ? query.text(0).map { String(decoding: $0, as: UTF8.self) } : nil
            }
            query.reset()
            guard declaration == table.creation else {
                throw .damaged(
                    path: path,
                    detail: "\(table.name): the table is missing or was changed")
            }
        }
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
