package import ProfileModel

/// The borders of phases.
enum LaunchBordersTable: RecordingTable {
    static let tableName = "marks"
    static let layout = TableLayout(Self.self)

    static var blank: (border: LaunchBorder, child: ChildIndex?) {
        (LaunchBorder(kind: .spawned, time: .blank), nil)
    }

    static func visit<V: ColumnVisitor>(
        _ value: inout (border: LaunchBorder, child: ChildIndex?), by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("kind", &value.border.kind)
        try columns.integer("time_ns", &value.border.time)
        try columns.integer("minor_faults", &value.border.counters.minorFaults)
        try columns.integer("major_faults", &value.border.counters.majorFaults)
        try columns.integer("read_bytes", &value.border.counters.readBytes)
        try columns.integer("child", &value.child)
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
