package import ProfileModel

/// Each thread's first priority, and every change that the recorder noticed.
enum PrioritiesTable: ListTable {
    static let tableName = "priorities"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [Priority]> { \.priorities }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.priorities }

    static var blank: Priority {
        Priority(thread: ThreadIndex(0), time: .blank, policy: 0, nice: 0, realTime: 0)
    }

    static func visit<V: ColumnVisitor>(
        _ priority: inout Priority, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("thread", &priority.thread)
        try columns.integer("time_ns", &priority.time)
        try columns.integer("policy", &priority.policy)
        try columns.integer("nice", &priority.nice)
        try columns.integer("real_time", &priority.realTime)
    }

    static func admit(
        _ priority: Priority, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(priority.thread, row)
        try rules.check(priority.time, row)
    }
}

extension RecordingWriter {
    package func append(_ priority: Priority) throws(RecordingError) {
        try append(priority, to: rows.priorities)
    }
}
