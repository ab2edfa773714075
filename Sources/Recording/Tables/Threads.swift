package import ProfileModel

/// The threads of all processes.
enum ThreadsTable: RecordingTable {
    static let tableName = "threads"
    static let layout = TableLayout(Self.self)
    static let isUpdated = true

    static var blank: RecordedThread {
        RecordedThread(tid: 0, name: "", start: .blank, isMain: false)
    }

    static func visit<V: ColumnVisitor>(
        _ thread: inout RecordedThread, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("tid", &thread.tid)
        try columns.text("name", &thread.name)
        try columns.integer("start_ns", &thread.start)
        try columns.integer("end_ns", &thread.end)
        try columns.integer("is_main", &thread.isMain)
        try columns.integer("child", &thread.child)
    }

    static func admit(
        _ thread: RecordedThread, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try check(thread, at: row, by: rules)
        rules.threadEnds.append(0)
        rules.runEnds.append(0)
    }

    /// Also for a changed version of a thread that was admitted before.
    static func check(
        _ thread: RecordedThread, at row: RowPlace, by rules: Consistency
    ) throws(Inconsistency) {
        try rules.check(thread.start, thread.end ?? thread.start, row)
        try rules.check(thread.child, row)
        guard thread.tid >= 0 else { throw row.problem("a negative thread id") }
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.threads = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for thread in recording.threads { try writer.append(thread) }
    }
}

extension RecordingWriter {
    /// Returns the thread's position in the recording's list.
    @discardableResult
    package func append(_ thread: RecordedThread) throws(RecordingError) -> ThreadIndex {
        let row = rules.threads
        try admit(thread, ThreadsTable.self, at: row)
        changedThreads[row] = thread
        return ThreadIndex(row)
    }

    /// Replaces a thread's data: its name changed, or it ended.
    package func update(
        _ thread: RecordedThread, at index: ThreadIndex
    ) throws(RecordingError) {
        let row = RowPlace(table: ThreadsTable.tableName, row: index.rawValue)
        try check { () throws(Inconsistency) in
            guard 0..<rules.threads ~= index.rawValue else { throw row.problem("does not exist") }
            try ThreadsTable.check(thread, at: row, by: rules)
        }
        changedThreads[index.rawValue] = thread
    }
}
