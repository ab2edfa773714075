package import ProfileModel

/// As ``IntervalsTable``, for single moments.
enum SignpostsTable: RecordingTable {
    static let tableName = "signposts"
    static let layout = TableLayout(Self.self)

    static var blank: Signpost { Signpost(name: "", category: "", thread: nil, time: .blank) }

    static func visit<V: ColumnVisitor>(
        _ signpost: inout Signpost, by columns: inout V
    ) throws(V.Failure) {
        try columns.label(&signpost)
        try columns.integer("time_ns", &signpost.time)
        try columns.integer("child", &signpost.child)
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
