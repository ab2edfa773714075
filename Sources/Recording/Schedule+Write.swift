package import ProfileModel

/// One row per value; values are bound in the order of the columns in ``Schema``.
extension RowTarget {
    func write(_ chunk: RunChunk, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, chunk.thread.rawValue)
        try bind(3, chunk.start.nanoseconds)
        try bind(4, chunk.bytes)
        try run()
    }

    func write(_ wakeup: Wakeup, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, wakeup.thread.rawValue)
        try bind(3, wakeup.time.nanoseconds)
        try bind(4, Int64(wakeup.waker))
        try bind(5, wakeup.wakerName)
        try bind(6, wakeup.wakerThread.map { Int64($0.rawValue) })
        try bind(7, wakeup.isInterrupt)
        try run()
    }
}

extension RecordingWriter {
    /// The runs of a thread must come in the order of their time.
    package func append(_ run: ScheduledRun) throws(RecordingError) {
        try check { () throws(Inconsistency) in try rules.admit(run, row: runRows) }
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
        let row = runRows
        try write { () throws(SQLiteFailure) in try rows.run.write(chunk, row: row) }
        runRows += 1
    }

    package func append(_ wakeup: Wakeup) throws(RecordingError) {
        let row = rules.wakeups
        try check { () throws(Inconsistency) in try rules.admit(wakeup) }
        try write { () throws(SQLiteFailure) in try rows.wakeup.write(wakeup, row: row) }
    }
}
