package import ProfileModel

/// Programs' reports of their own work, by signposts: intervals.
enum IntervalsTable: Int32, LabelledTable {
    case name = 1, category, subsystem, thread, start, end, isComplete, child

    static let tableName = "intervals"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .name: .text("name")
        case .category: .text("category")
        case .subsystem: .text("subsystem")
        case .thread: .integer("thread").orNull()
        case .start: .integer("start_ns")
        case .end: .integer("end_ns")
        case .isComplete: .integer("complete")
        case .child: .integer("child").orNull()
        }
    }

    static func write(
        _ interval: Interval, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.setLabel(of: interval)
        try row.set(.start, interval.start)
        try row.set(.end, interval.end)
        try row.set(.isComplete, interval.isComplete)
        try row.set(.child, interval.child)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Interval {
        Interval(
            name: try row.text(.name), category: try row.text(.category),
            subsystem: try row.text(.subsystem), thread: try row.optional(.thread),
            start: try row.integer(.start), end: try row.integer(.end),
            isComplete: try row.integer(.isComplete), child: try row.optional(.child))
    }

    static func admit(
        _ interval: Interval, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.checkLabel(of: interval, row)
        try rules.check(interval.start, interval.end, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.intervals = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for interval in recording.intervals { try writer.append(interval) }
    }
}

extension RecordingWriter {
    package func append(_ interval: Interval) throws(RecordingError) {
        try append(interval, to: rows.intervals)
    }
}
