package import ProfileModel

/// Files whose code was mapped.
enum ModulesTable: Int32, RecordingTable {
    case path = 1, buildID

    static let tableName = "modules"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .path: .text("path")
        case .buildID: .blob("build_id")
        }
    }

    static func write(
        _ module: Module, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.path, module.path)
        try row.set(.buildID, module.buildID)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Module {
        Module(path: try row.text(.path), buildID: try row.blob(.buildID))
    }

    static func admit(
        _: Module, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        rules.modules += 1
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording.modules = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        for module in recording.modules { try writer.append(module) }
    }
}

extension RecordingWriter {
    /// Returns the module's position in the recording's list.
    @discardableResult
    package func append(_ module: Module) throws(RecordingError) -> ModuleIndex {
        try append(module, to: rows.modules)
        return ModuleIndex(rows.modules.count - 1)
    }
}
