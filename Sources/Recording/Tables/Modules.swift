package import ProfileModel

/// Files whose code was mapped.
enum ModulesTable: ListTable {
    static let tableName = "modules"
    static let layout = TableLayout(Self.self)

    static var list: WritableKeyPath<Recording, [Module]> { \.modules }
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { \.modules }

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
}

extension RecordingWriter {
    /// Returns the module's position in the recording's list.
    @discardableResult
    package func append(_ module: Module) throws(RecordingError) -> ModuleIndex {
        try append(module, to: rows.modules)
        return ModuleIndex(rows.modules.count - 1)
    }
}
