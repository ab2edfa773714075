package import ProfileModel

/// One row per value; values are bound in the order of the columns in ``Schema``.
extension RowTarget {
    func write(_ reason: WaitReason, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, reason.kind.rawValue)
        try bind(3, reason.detail)
        try bind(4, reason.owner.map(Int64.init))
        try bind(5, reason.place.map(Int64.init(bitPattern:)))
        try run()
    }

    func write(_ wait: Wait, reason: Int, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, wait.thread.rawValue)
        try bind(3, wait.start.nanoseconds)
        try bind(4, wait.end.nanoseconds)
        try bind(5, reason)
        try bind(6, Int64(wait.systemCall))
        try bind(7, wait.stack.map { Int64($0.rawValue) })
        try run()
    }

    func write(_ priority: Priority, row: Int) throws(SQLiteFailure) {
        try bind(1, row)
        try bind(2, priority.thread.rawValue)
        try bind(3, priority.time.nanoseconds)
        try bind(4, Int64(priority.policy))
        try bind(5, Int64(priority.nice))
        try bind(6, Int64(priority.realTime))
        try run()
    }
}

extension RecordingWriter {
    /// The wait's stack must have been appended before, as for slices.
    package func append(_ wait: Wait) throws(RecordingError) {
        let row = rules.waits
        let reason = try position(of: wait.reason)
        try check { () throws(Inconsistency) in try rules.admit(wait) }
        try write { () throws(SQLiteFailure) in
            try rows.wait.write(wait, reason: reason, row: row)
        }
    }

    /// Many waits have the same reason, so each reason is written once.
    private func position(of reason: WaitReason) throws(RecordingError) -> Int {
        if let known = waitReasons[reason] { return known }
        let row = rules.waitReasons
        try check { () throws(Inconsistency) in try rules.admit(reason) }
        try write { () throws(SQLiteFailure) in
            try rows.waitReason.write(reason, row: row)
        }
        waitReasons[reason] = row
        return row
    }

    package func append(_ priority: Priority) throws(RecordingError) {
        let row = rules.priorities
        try check { () throws(Inconsistency) in try rules.admit(priority) }
        try write { () throws(SQLiteFailure) in
            try rows.priority.write(priority, row: row)
        }
    }
}
