package import ProfileModel

/// One frame each, with its callers' stack.
enum StacksTable: Int32, RecordingTable {
    case parent = 1, module, address, kind

    static let tableName = "stacks"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .parent: .integer("parent").orNull()
        case .module: .integer("module").orNull()
        case .address: .integer("address")
        case .kind: .integer("kind")
        }
    }

    static func write(
        _ node: StackTable.Node, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.parent, node.parent)
        try row.set(.module, node.frame.module)
        try row.set(.address, node.frame.address.value)
        try row.set(.kind, node.frame.address.kind)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> StackTable.Node {
        StackTable.Node(
            parent: try row.optional(.parent),
            frame: try row.frame(.module, .address, .kind))
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
