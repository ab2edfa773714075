package import ProfileModel

/// As ``IntervalsTable``, for single moments.
enum SignpostsTable: Int32, LabelledTable {
    case name = 1, category, subsystem, thread, time, child

    static let tableName = "signposts"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .name: .text("name")
        case .category: .text("category")
        case .subsystem: .text("subsystem")
        case .thread: .integer("thread").orNull()
        case .time: .integer("time_ns")
        case .child: .integer("child").orNull()
        }
    }

    static func write(
        _ signpost: Signpost, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.setLabel(of: signpost)
        try row.set(.time, signpost.time)
        try row.set(.child, signpost.child)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Signpost {
        Signpost(
            name: try row.text(.name), category: try row.text(.category),
            subsystem: try row.text(.subsystem), thread: try row.optional(.thread),
            time: try row.integer(.time), child: try row.optional(.child))
    }

    static func admit(
        _ signpost: Signpost, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.checkLabel(of: signpost, row)
        try rules.check(signpost.time, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.signposts = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for signpost in recording.signposts { try writer.append(signpost) }
    }
}

extension RecordingWriter {
    package func append(_ signpost: Signpost) throws(RecordingError) {
        try append(signpost, to: rows.signposts)
    }
}
