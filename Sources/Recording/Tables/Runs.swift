package import ProfileModel

/// The scheduler's account of each thread: contiguous runs in one row, see ``RunChunk``.
enum RunsTable: RecordingTable {
    static let tableName = "runs"
    static let layout = TableLayout(Self.self)
    static let isLong = true

    /// A small file could hold very many runs.
    private static let mostRuns = 5_000_000

    static var blank: (thread: ThreadIndex, start: MonotonicTime, data: [UInt8]) {
        (ThreadIndex(0), .blank, [])
    }

    static func visit<V: ColumnVisitor>(
        _ chunk: inout (thread: ThreadIndex, start: MonotonicTime, data: [UInt8]),
        by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("thread", &chunk.thread)
        try columns.integer("start_ns", &chunk.start)
        try columns.blob("data", &chunk.data)
    }

    static func admit(
        _ run: ScheduledRun, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(run.thread, row)
        guard run.start < run.end, run.end.nanoseconds <= Consistency.latest else {
            throw row.problem("a time out of range")
        }
        guard run.start.nanoseconds >= rules.runEnds[run.thread.rawValue] else {
            throw row.problem("overlaps the previous one")
        }
        guard run.core ?? 0 >= 0, run.core == nil || run.state == .running else {
            throw row.problem("no such core")
        }
        guard rules.runs < mostRuns else { throw row.problem("too many runs") }
        rules.runEnds[run.thread.rawValue] = run.end.nanoseconds
        rules.runs += 1
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        var runs = ScheduledRuns()
        try reader.scan(Self.self) { row, rules throws(ReadFailure) in
            let (thread, start, data) = try read(&row)
            guard let chunk = RunChunk.runs(of: thread, from: start, data) else {
                throw row.invalid("data")
            }
            let place = row.place
            for run in chunk {
                try TableReader.admit { () throws(Inconsistency) in
                    try admit(run, at: place, by: &rules)
                }
            }
            runs.append(chunk, of: thread)
        }
        recording.runs = runs
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for run in recording.runs { try writer.append(run) }
    }
}

extension RecordingWriter {
    /// The runs of a thread must come in the order of their time.
    package func append(_ run: ScheduledRun) throws(RecordingError) {
        try admit(run, RunsTable.self, at: rows.runs.count)
        if openRuns[run.thread]?.append(run) == true { return }
        try flush(openRuns.updateValue(RunChunk(beginningWith: run), forKey: run.thread))
    }

    /// Writes the waiting runs.
    func flushRuns() throws(RecordingError) {
        for thread in openRuns.keys.sorted() { try flush(openRuns[thread]) }
        openRuns.removeAll(keepingCapacity: true)
    }

    private func flush(_ chunk: RunChunk?) throws(RecordingError) {
        guard let chunk else { return }
        try write { () throws(SQLiteFailure) in
            try rows.runs.write(
                (chunk.thread, chunk.start, chunk.bytes), at: rows.runs.count)
        }
    }
}
