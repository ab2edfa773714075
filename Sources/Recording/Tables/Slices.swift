package import ProfileModel

/// How each thread spent its time, and where.
enum SlicesTable: ListTable {
    static let tableName = "slices"
    static let layout = TableLayout(Self.self)
    static let isLong = true

    static var list: WritableKeyPath<Recording, [Slice]> { \.slices }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.slices }

    static var blank: Slice {
        Slice(thread: ThreadIndex(0), start: .blank, times: StateTimes(), stack: nil)
    }

    static func visit<V: ColumnVisitor>(
        _ slice: inout Slice, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("thread", &slice.thread)
        try columns.integer("start_ns", &slice.start)
        try columns.integer("running_ns", &slice.times.running)
        try columns.integer("runnable_ns", &slice.times.runnable)
        try columns.integer("preempted_ns", &slice.times.preempted)
        try columns.integer("blocked_ns", &slice.times.blocked)
        try columns.integer("stack", &slice.stack)
        try columns.integer("system_call", &slice.systemCall)
        try columns.integer("truncation", &slice.truncation)
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
}

extension RecordingWriter {
    /// The slices of a thread must come in the order of their time. Does not allocate.
    package func append(_ slice: Slice) throws(RecordingError) {
        try append(slice, to: rows.slices)
    }
}
