package import ProfileModel

/// The borders of phases.
enum LaunchBordersTable: Int32, RecordingTable {
    case kind = 1, time, minorFaults, majorFaults, readBytes, child

    static let tableName = "marks"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .kind: .integer("kind")
        case .time: .integer("time_ns")
        case .minorFaults: .integer("minor_faults").orNull()
        case .majorFaults: .integer("major_faults").orNull()
        case .readBytes: .integer("read_bytes").orNull()
        case .child: .integer("child").orNull()
        }
    }

    static func write(
        _ value: (border: LaunchBorder, child: ChildIndex?),
        to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.kind, value.border.kind)
        try row.set(.time, value.border.time)
        try row.set(.minorFaults, value.border.counters.minorFaults)
        try row.set(.majorFaults, value.border.counters.majorFaults)
        try row.set(.readBytes, value.border.counters.readBytes)
        try row.set(.child, value.child)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> (
        border: LaunchBorder, child: ChildIndex?
    ) {
        let counters = ProcessCounters(
            minorFaults: try row.optional(.minorFaults),
            majorFaults: try row.optional(.majorFaults), readBytes: try row.optional(.readBytes))
        let border = LaunchBorder(
            kind: try row.integer(.kind), time: try row.integer(.time), counters: counters)
        return (border, try row.optional(.child))
    }

    static func admit(
        _ value: (border: LaunchBorder, child: ChildIndex?), at row: RowPlace,
        by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(value.border.time, row)
        try rules.check(value.child, row)
        let counters = value.border.counters
        for value in [counters.minorFaults, counters.majorFaults, counters.readBytes] {
            guard value ?? 0 >= 0 else { throw row.problem("a negative counter") }
        }
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        try reader.scanValues(Self.self) { value, _ in
            if let child = value.child {
                recording.children[child.rawValue].borders.append(value.border)
            } else {
                recording.borders.append(value.border)
            }
        }
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for (index, child) in recording.children.enumerated() {
            for border in child.borders { try writer.append(border, of: ChildIndex(index)) }
        }
        for border in recording.borders { try writer.append(border) }
    }
}

extension RecordingWriter {
    /// - Parameter child: the child that it belongs to; nil: the recorded process.
    package func append(
        _ border: LaunchBorder, of child: ChildIndex? = nil
    ) throws(RecordingError) {
        try append((border, child), to: rows.borders)
    }
}
