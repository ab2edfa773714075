package import ProfileModel

/// Each thread's first priority, and every change that the recorder noticed.
enum PrioritiesTable: Int32, RecordingTable {
    case thread = 1, time, policy, nice, realTime

    static let tableName = "priorities"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .thread: .integer("thread")
        case .time: .integer("time_ns")
        case .policy: .integer("policy")
        case .nice: .integer("nice")
        case .realTime: .integer("real_time")
        }
    }

    static func write(
        _ priority: Priority, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.thread, priority.thread)
        try row.set(.time, priority.time)
        try row.set(.policy, priority.policy)
        try row.set(.nice, priority.nice)
        try row.set(.realTime, priority.realTime)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Priority {
        Priority(
            thread: try row.integer(.thread), time: try row.integer(.time),
            policy: try row.integer(.policy), nice: try row.integer(.nice),
            realTime: try row.integer(.realTime))
    }

    static func admit(
        _ priority: Priority, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(priority.thread, row)
        try rules.check(priority.time, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.priorities = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for priority in recording.priorities { try writer.append(priority) }
    }
}

extension RecordingWriter {
    package func append(_ priority: Priority) throws(RecordingError) {
        try append(priority, to: rows.priorities)
    }
}
