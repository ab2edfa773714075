package import ProfileModel

/// Runs of static initialisers.
enum InitializersTable: Int32, RecordingTable {
    case function = 1, thread, start, end, cpu, isComplete

    static let tableName = "initializers"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .function: .integer("function")
        case .thread: .integer("thread")
        case .start: .integer("start_ns")
        case .end: .integer("end_ns")
        case .cpu: .integer("cpu_ns")
        case .isComplete: .integer("complete")
        }
    }

    static func write(
        _ initializer: InitializerRun, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.function, initializer.function)
        try row.set(.thread, initializer.thread)
        try row.set(.start, initializer.start)
        try row.set(.end, initializer.end)
        try row.set(.cpu, initializer.cpu)
        try row.set(.isComplete, initializer.isComplete)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> InitializerRun {
        InitializerRun(
            function: try row.integer(.function), thread: try row.integer(.thread),
            start: try row.integer(.start), end: try row.integer(.end),
            cpu: try row.integer(.cpu), isComplete: try row.integer(.isComplete))
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

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.initializers = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for initializer in recording.initializers { try writer.append(initializer) }
    }
}

extension RecordingWriter {
    /// The initialiser's function must have been appended before, as for slices.
    package func append(_ initializer: InitializerRun) throws(RecordingError) {
        try append(initializer, to: rows.initializers)
    }
}
