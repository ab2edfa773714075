package import ProfileModel

/// The condition that ended the launch; at most one row.
enum ReadyTable: RecordingTable {
    static let tableName = "ready"
    static let layout = TableLayout(Self.self)

    static var blank: Readiness { Readiness(time: .blank, by: "") }

    static func visit<V: ColumnVisitor>(
        _ ready: inout Readiness, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("time_ns", &ready.time)
        try columns.text("condition", &ready.by)
    }

    static func admit(
        _ ready: Readiness, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        guard row.row == 0 else { throw row.problem("ready twice") }
        try rules.check(ready.time, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.ready = try reader.values(of: Self.self).first
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        if let ready = recording.ready { try writer.append(ready) }
    }
}

extension RecordingWriter {
    /// Call it at most once.
    package func append(_ ready: Readiness) throws(RecordingError) {
        try append(ready, to: rows.ready)
    }
}
