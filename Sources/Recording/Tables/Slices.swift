package import ProfileModel

/// How each thread spent its time, and where.
enum SlicesTable: Int32, RecordingTable {
    case thread = 1, start, running, runnable, preempted, blocked, stack, systemCall, truncation

    static let tableName = "slices"
    static let layout = TableLayout(Self.self)
    static let isLong = true

    var column: Column {
        switch self {
        case .thread: .integer("thread")
        case .start: .integer("start_ns")
        case .running: .integer("running_ns")
        case .runnable: .integer("runnable_ns")
        case .preempted: .integer("preempted_ns")
        case .blocked: .integer("blocked_ns")
        case .stack: .integer("stack").orNull()
        case .systemCall: .integer("system_call").orNull()
        case .truncation: .integer("truncation").orNull()
        }
    }

    static func write(
        _ slice: Slice, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.thread, slice.thread)
        try row.set(.start, slice.start)
        try row.set(.running, slice.times.running)
        try row.set(.runnable, slice.times.runnable)
        try row.set(.preempted, slice.times.preempted)
        try row.set(.blocked, slice.times.blocked)
        try row.set(.stack, slice.stack)
        try row.set(.systemCall, slice.systemCall)
        try row.set(.truncation, slice.truncation)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Slice {
        let times = StateTimes(
            running: try row.integer(.running), runnable: try row.integer(.runnable),
            preempted: try row.integer(.preempted), blocked: try row.integer(.blocked))
        return Slice(
            thread: try row.integer(.thread), start: try row.integer(.start), times: times,
            stack: try row.optional(.stack), systemCall: try row.optional(.systemCall),
            truncation: try row.optional(.truncation))
    }

    static func admit(
        _ slice: Slice, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(slice.thread, row)
        try rules.check(slice.stack, row)
        if let call = slice.systemCall, call < -1 { throw row.problem("no such system call") }
        let (thread, start) = (slice.thread.rawValue, slice.start.nanoseconds)
        let wall = try wall(of: slice.times, at: row)
        guard 0...Consistency.latest ~= start, wall <= Consistency.latest - start else {
            throw row.problem("a time out of range")
        }
        guard start >= rules.threadEnds[thread] else {
            throw row.problem("overlaps the previous one")
        }
        let (total, overflow) = rules.totalWall.addingReportingOverflow(wall)
        guard !overflow else { throw row.problem("too much time in all") }
        rules.totalWall = total
        rules.threadEnds[thread] = start + wall
    }

    private static func wall(
        of times: StateTimes, at row: RowPlace
    ) throws(Inconsistency) -> Int64 {
        let range = 0...Consistency.latest
        guard range ~= times.running.nanoseconds, range ~= times.runnable.nanoseconds,
            range ~= times.preempted.nanoseconds, range ~= times.blocked.nanoseconds
        else { throw row.problem("a time out of range") }
        return times.wall.nanoseconds
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.slices = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for slice in recording.slices { try writer.append(slice) }
    }
}

extension RecordingWriter {
    /// The slices of a thread must come in the order of their time. Does not allocate.
    package func append(_ slice: Slice) throws(RecordingError) {
        try append(slice, to: rows.slices)
    }
}
