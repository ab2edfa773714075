package import ProfileModel

/// Processes that the recorded process, or one of its children, started.
enum ChildrenTable: Int32, RecordingTable {
    case pid = 1, parent, name, start, end, cpu, outcome, outcomeValue, parentIndex, capture

    static let tableName = "children"
    static let layout = TableLayout(Self.self)
    static let isUpdated = true

    var column: Column {
        switch self {
        case .pid: .integer("pid")
        case .parent: .integer("parent")
        case .name: .text("name")
        case .start: .integer("start_ns")
        case .end: .integer("end_ns").orNull()
        case .cpu: .integer("cpu_ns").orNull()
        case .outcome: .text("outcome").orNull()
        case .outcomeValue: .integer("outcome_value").orNull()
        case .parentIndex: .integer("parent_child").orNull()
        case .capture: .text("capture").orNull()
        }
    }

    static func write(
        _ child: ChildProcess, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.pid, child.pid)
        try row.set(.parent, child.parent)
        try row.set(.name, child.name)
        try row.set(.start, child.start)
        try row.set(.end, child.end)
        try row.set(.cpu, child.cpu)
        try row.set(.outcome, .outcomeValue, child.outcome)
        try row.set(.parentIndex, child.parentIndex)
        try row.set(.capture, child.capture?.rawValue)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> ChildProcess {
        ChildProcess(
            pid: try row.integer(.pid), parent: try row.integer(.parent),
            parentIndex: try row.optional(.parentIndex), name: try row.text(.name),
            start: try row.integer(.start), end: try row.optional(.end),
            cpu: try row.optional(.cpu), outcome: try row.outcome(.outcome, .outcomeValue),
            capture: try row.optionalWord(.capture))
    }

    static func admit(
        _ child: ChildProcess, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try check(child, at: row, by: rules)
        rules.children += 1
    }

    /// Also for a changed version of a child that was admitted before.
    static func check(
        _ child: ChildProcess, at row: RowPlace, by rules: Consistency
    ) throws(Inconsistency) {
        try rules.check(child.start, child.end ?? child.start, row)
        guard child.pid > 0, child.parent >= 0,
            0...Consistency.latest ~= child.cpu?.nanoseconds ?? 0
        else { throw row.problem("a value out of range") }
        if let parent = child.parentIndex, !(0..<row.row ~= parent.rawValue) {
            throw row.problem("its parent does not precede it")
        }
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.children = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for child in recording.children { try writer.append(child) }
    }
}

extension RecordingWriter {
    /// Appends a child without its images and borders, which must be appended one by one. Returns the
    /// child's position in the recording's list.
    @discardableResult
    package func append(_ child: ChildProcess) throws(RecordingError) -> ChildIndex {
        let row = rules.children
        try admit(child, ChildrenTable.self, at: row)
        changedChildren[row] = child
        return ChildIndex(row)
    }

    /// Replaces a child's data: it executed another program, or it ended.
    package func update(
        _ child: ChildProcess, at index: ChildIndex
    ) throws(RecordingError) {
        let row = RowPlace(table: ChildrenTable.tableName, row: index.rawValue)
        try check { () throws(Inconsistency) in
            try rules.check(index, row)
            try ChildrenTable.check(child, at: row, by: rules)
        }
        changedChildren[index.rawValue] = child
    }
}
