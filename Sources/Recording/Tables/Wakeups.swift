package import ProfileModel

/// The thread that woke each thread.
enum WakeupsTable: Int32, RecordingTable {
    case thread = 1, time, waker, wakerName, wakerThread, isInterrupt

    static let tableName = "wakeups"
    static let layout = TableLayout(Self.self)
    static let isLong = true

    var column: Column {
        switch self {
        case .thread: .integer("thread")
        case .time: .integer("time_ns")
        case .waker: .integer("waker")
        case .wakerName: .text("waker_name")
        case .wakerThread: .integer("waker_thread").orNull()
        case .isInterrupt: .integer("interrupt")
        }
    }

    static func write(
        _ wakeup: Wakeup, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.thread, wakeup.thread)
        try row.set(.time, wakeup.time)
        try row.set(.waker, wakeup.waker)
        try row.set(.wakerName, wakeup.wakerName)
        try row.set(.wakerThread, wakeup.wakerThread)
        try row.set(.isInterrupt, wakeup.isInterrupt)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Wakeup {
        Wakeup(
            thread: try row.integer(.thread), time: try row.integer(.time),
            waker: try row.integer(.waker), wakerName: try row.text(.wakerName),
            wakerThread: try row.optional(.wakerThread),
            isInterrupt: try row.integer(.isInterrupt))
    }

    static func admit(
        _ wakeup: Wakeup, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(wakeup.thread, row)
        try rules.check(wakeup.wakerThread, row)
        try rules.check(wakeup.time, row)
        guard wakeup.waker >= 0 else { throw row.problem("a negative thread id") }
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.wakeups = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for wakeup in recording.wakeups { try writer.append(wakeup) }
    }
}

extension RecordingWriter {
    package func append(_ wakeup: Wakeup) throws(RecordingError) {
        try append(wakeup, to: rows.wakeups)
    }
}
