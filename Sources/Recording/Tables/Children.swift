package import ProfileModel

/// Processes that the recorded process, or one of its children, started.
enum ChildrenTable: RecordingTable {
    static let tableName = "children"
    static let layout = TableLayout(Self.self)
    static let isUpdated = true

    static var blank: ChildProcess { ChildProcess(pid: 0, parent: 0, name: "", start: .blank) }

    static func visit<V: ColumnVisitor>(
        _ child: inout ChildProcess, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("pid", &child.pid)
        try columns.integer("parent", &child.parent)
        try columns.text("name", &child.name)
        try columns.integer("start_ns", &child.start)
        try columns.integer("end_ns", &child.end)
        try columns.integer("cpu_ns", &child.cpu)
        try columns.outcome(&child.outcome)
        try columns.integer("parent_child", &child.parentIndex)
        try columns.word("capture", &child.capture)
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
