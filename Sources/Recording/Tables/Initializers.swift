package import ProfileModel

/// Runs of static initialisers.
enum InitializersTable: ListTable {
    static let tableName = "initializers"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [InitializerRun]> { \.initializers }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.initializers }

    static var blank: InitializerRun {
        InitializerRun(
            function: StackID(0), thread: ThreadIndex(0), start: .blank, end: .blank, cpu: .zero,
            isComplete: false)
    }

    static func visit<V: ColumnVisitor>(
        _ initializer: inout InitializerRun, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("function", &initializer.function)
        try columns.integer("thread", &initializer.thread)
        try columns.integer("start_ns", &initializer.start)
        try columns.integer("end_ns", &initializer.end)
        try columns.integer("cpu_ns", &initializer.cpu)
        try columns.integer("complete", &initializer.isComplete)
    }

    static func admit(
        _ initializer: InitializerRun, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(initializer.function, row)
        try rules.check(initializer.thread, row)
        try rules.check(initializer.start, initializer.end, row)
        guard 0...Consistency.latest ~= initializer.cpu.nanoseconds else {
            throw row.problem("a time out of range")
        }
    }
}

extension RecordingWriter {
    /// The initialiser's function must have been appended before, as for slices.
    package func append(_ initializer: InitializerRun) throws(RecordingError) {
        try append(initializer, to: rows.initializers)
    }
}
