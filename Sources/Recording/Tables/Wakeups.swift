package import ProfileModel

/// The thread that woke each thread.
enum WakeupsTable: ListTable {
    static let tableName = "wakeups"
    static let layout = TableLayout(Self.self)
    static let isLong = true

    static var list: WritableKeyPath<Recording, [Wakeup]> { \.wakeups }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.wakeups }

    static var blank: Wakeup {
        Wakeup(
            thread: ThreadIndex(0), time: .blank, waker: 0, wakerName: "", wakerThread: nil,
            isInterrupt: false)
    }

    static func visit<V: ColumnVisitor>(
        _ wakeup: inout Wakeup, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("thread", &wakeup.thread)
        try columns.integer("time_ns", &wakeup.time)
        try columns.integer("waker", &wakeup.waker)
        try columns.text("waker_name", &wakeup.wakerName)
        try columns.integer("waker_thread", &wakeup.wakerThread)
        try columns.integer("interrupt", &wakeup.isInterrupt)
    }

    static func admit(
        _ wakeup: Wakeup, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(wakeup.thread, row)
        try rules.check(wakeup.wakerThread, row)
        try rules.check(wakeup.time, row)
        guard wakeup.waker >= 0 else { throw row.problem("a negative thread id") }
    }
}

extension RecordingWriter {
    package func append(_ wakeup: Wakeup) throws(RecordingError) {
        try append(wakeup, to: rows.wakeups)
    }
}
