package import ProfileModel

/// The condition that ended the launch; at most one row.
enum ReadyTable: Int32, RecordingTable {
    case time = 1, condition

    static let tableName = "ready"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .time: .integer("time_ns")
        case .condition: .text("condition")
        }
    }

    static func write(
        _ ready: Readiness, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.time, ready.time)
        try row.set(.condition, ready.by)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Readiness {
        Readiness(time: try row.integer(.time), by: try row.text(.condition))
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
