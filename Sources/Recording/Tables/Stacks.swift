package import ProfileModel

/// One frame each, with its callers' stack.
enum StacksTable: RecordingTable {
    static let tableName = "stacks"
    static let layout = TableLayout(Self.self)

    static var blank: StackTable.Node { StackTable.Node(parent: nil, frame: .blank) }

    static func visit<V: ColumnVisitor>(
        _ node: inout StackTable.Node, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("parent", &node.parent)
        try columns.frame(&node.frame)
    }

    static func admit(
        _ node: StackTable.Node, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(node.frame.module, row)
        if let parent = node.parent?.rawValue, !(0..<rules.stacks ~= Int(parent)) {
            throw row.problem("its parent does not precede it")
        }
        guard rules.stacks < Int32.max else { throw row.problem("too many stacks") }
        rules.stacks += 1
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        var table = StackTable()
        try reader.scanValues(Self.self) { node, row throws(ReadFailure) in
            let id = table.intern(parent: node.parent, frame: node.frame)
            guard Int(id.rawValue) == row.number else {
                throw row.problem("repeats an earlier stack")
            }
        }
        recording.stacks = table
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        try writer.append(newNodesOf: recording.stacks)
    }
}

extension RecordingWriter {
    /// Appends the table's nodes that were not appended yet. Call it before the slices that refer
    /// to them. The table must always be the same one, which only grows.
    package func append(newNodesOf table: StackTable) throws(RecordingError) {
        let nodes = table.nodes
        while rows.stacks.count < nodes.count {
            try append(nodes[rows.stacks.count], to: rows.stacks)
        }
    }
}
