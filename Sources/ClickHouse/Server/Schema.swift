import CResources
import ProfileModel

/// The tables and views of `SQL/schema.sql`.
extension Store {
    /// Creates missing tables and views. Tables of another version stay as they are.
    package func createTables() throws(StoreError) {
        do throws(StoreError) {
            try checkSchema()
        } catch {
            // Code 81: no such database.
            if case .refused(_, 81, _) = error {} else if error != .noTables { throw error }
        }
        try run("CREATE DATABASE IF NOT EXISTS \(address.database)", isInDatabase: false)
        for statement in Self.statements { try run(statement) }
        try checkSchema()
    }

    /// The file's text, so that users can run it themselves.
    package static var schema: String {
        let start = unsafe fl_resource_bytes(fl_schema_sql)
        let bytes = unsafe UnsafeBufferPointer(
            start: start, count: fl_resource_size(fl_schema_sql))
        return String(decoding: unsafe bytes, as: UTF8.self)
    }

    static var statements: [String] {
        var statements: [String] = []
        var current: [Substring] = []
        for line in schema.split(separator: "\n") where !line.hasPrefix("--") {
            guard line.hasSuffix(";") else {
                current.append(line)
                continue
            }
            current.append(line.dropLast())
            statements.append(current.joined(separator: "\n"))
            current = []
        }
        return statements
    }

    /// Throws unless the tables exist and have our version.
    package func checkSchema() throws(StoreError) {
        var answer: RowBinaryReader
        do throws(StoreError) {
            answer = try ask("SELECT toUInt32(max(version)) FROM schema")
        } catch {
            // Code 60: no such table.
            if case .refused(_, 60, _) = error { throw .noTables }
            throw error
        }
        let version = try answer.integer(UInt32.self)
        guard version == Self.schemaVersion else { throw .otherSchema(version) }
    }
}

/// Values as parts of a query. No value can end its literal.
enum SQL {
    /// Written as digits, because names may contain anything.
    static func text(_ value: String) -> String {
        "unhex('\(value.utf8.hex)')"
    }

    static func list(_ values: [String]) -> String {
        "(" + values.map(text).joined(separator: ", ") + ")"
    }
}
