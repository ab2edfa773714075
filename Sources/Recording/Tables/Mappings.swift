package import ProfileModel

/// Where modules were, and since when.
enum MappingsTable: Int32, RecordingTable {
    case start = 1, end, bias, module, time, child

    static let tableName = "mappings"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .start: .integer("start_address")
        case .end: .integer("end_address").relative(to: Self.start)
        case .bias: .integer("bias").relative(to: Self.start)
        case .module: .integer("module")
        case .time: .integer("time_ns")
        case .child: .integer("child").orNull()
        }
    }

    static func write(
        _ mapping: Mapping, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.start, mapping.start)
        try row.set(.end, mapping.end)
        try row.set(.bias, mapping.bias)
        try row.set(.module, mapping.module)
        try row.set(.time, mapping.time)
        try row.set(.child, mapping.child)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Mapping {
        Mapping(
            start: try row.integer(.start), end: try row.integer(.end),
            bias: try row.integer(.bias), module: try row.integer(.module),
            time: try row.integer(.time), child: try row.optional(.child))
    }

    static func admit(
        _ mapping: Mapping, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(mapping.time, row)
        try rules.check(mapping.module, row)
        try rules.check(mapping.child, row)
        guard mapping.start < mapping.end else { throw row.problem("an empty range") }
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.mappings = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for mapping in recording.mappings { try writer.append(mapping) }
    }
}

extension RecordingWriter {
    package func append(_ mapping: Mapping) throws(RecordingError) {
        try append(mapping, to: rows.mappings)
    }
}
