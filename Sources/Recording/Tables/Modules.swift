package import ProfileModel

/// Files whose code was mapped.
enum ModulesTable: RecordingTable {
    static let tableName = "modules"
    static let layout = TableLayout(Self.self)

    static var blank: Module { Module(path: "") }

    static func visit<V: ColumnVisitor>(
        _ module: inout Module, by columns: inout V
    ) throws(V.Failure) {
        try columns.text("path", &module.path)
        try columns.blob("build_id", &module.buildID)
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
