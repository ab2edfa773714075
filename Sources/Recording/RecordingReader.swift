import CSQLite
import Glibc
package import ProfileModel

/// Reads recording files, which may come from anywhere: every value is checked, nothing in the
/// file is executed, and memory stays in proportion to the file's size.
package enum RecordingReader {
    /// Reads a whole recording; one whose recorder was killed up to its last transaction (the
    /// half one after it is undone, in the file too).
    package static func load(path: String) throws(RecordingError) -> Recording {
        let database = try open(path, for: .read)
        defer { database.close() }
        let size = try fileSize(path)
        var reader = TableReader(database: database, textBudget: size)
        do {
            return try reader.recording()
        } catch {
            switch error {
            case .failure(let failure): throw database.error(failure)
            case .inconsistency(let found): throw .damaged(path: path, detail: found.detail)
            }
        }
    }

    /// Opens a file and makes sure that it is a recording of a schema that this version knows,
    /// within a transaction that ends with the connection.
    static func open(
        _ path: String, for purpose: Database.Purpose
    ) throws(RecordingError) -> Database {
        let start = try FileStart(of: path)
        guard start.isRecording else { throw .notARecording(path: path) }
        guard start.schemaVersion <= Schema.version else {
            throw .newerSchema(
                path: path, found: start.schemaVersion, supported: Schema.version)
        }
        guard start.schemaVersion > 0, !start.usesWriteAheadLog else {
            throw .damaged(path: path, detail: "its header was changed")
        }
        guard start.schemaVersion == Schema.version else {
            throw .olderSchema(
                path: path, found: start.schemaVersion, supported: Schema.version)
        }
        // SQLite resolves links, too, and looks for the journal beside the file itself.
        if let journal = realPath(path).map(RecordingFile.journalPath),
            Journal.namesAnotherFile(journal)
        {
            throw .damaged(path: path, detail: "its journal refers to another file")
        }
        let database = try Database(opening: path, for: purpose)
        do {
            database.wait(milliseconds: 500)
            // As for the recorder: a sync would only guard against a power cut.
            try database.execute("PRAGMA synchronous = OFF")
            try database.execute(purpose == .read ? "BEGIN" : "BEGIN IMMEDIATE")
            try checkTables(database)
        } catch {
            database.close()
            throw error
        }
        // Only now: what a killed recorder left half written is undone.
        guard !start.isCutShort(path) else {
            database.close()
            throw .damaged(path: path, detail: "it was cut short")
        }
        return database
    }

    /// Every table must be declared as this version declares it, to the letter: so there is no
    /// view, virtual table, generated column or trigger to be run.
    private static func checkTables(_ database: Database) throws(RecordingError) {
        let query = try database.prepare(
            "SELECT sql FROM sqlite_schema WHERE name = ?1 AND type = 'table'")
        for table in Schema.tables {
            let declaration = try database.attempt { () throws(SQLiteFailure) in
                try query.bind(1, table.name)
                return try query.step()
                    ? query.text(0).map { String(decoding: $0, as: UTF8.self) } : nil
            }
            query.reset()
            guard declaration == table.creation else {
                throw .damaged(
                    path: database.path,
                    detail: "\(table.name): the table is missing or was changed")
            }
        }
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func fileSize(_ path: String) throws(RecordingError) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .cannotRead(path: path, errno: errno) }
        return Int(status.st_size)
    }
}
