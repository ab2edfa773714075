import ProfileModel

/// Where each module's symbols came from.
enum ModuleSymbolsTable: RecordingTable {
    static let tableName = "module_symbols"
    static let layout = TableLayout(Self.self)

    static var blank: (module: ModuleIndex, symbols: ModuleSymbols) {
        (ModuleIndex(0), ModuleSymbols())
    }

    static func visit<V: ColumnVisitor>(
        _ value: inout (module: ModuleIndex, symbols: ModuleSymbols), by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("module", &value.module)
        try columns.text("debug_info_path", &value.symbols.debugInfoPath)
        try columns.word("debug_info_origin", &value.symbols.debugInfoOrigin)
        try columns.word("symbol_origin", &value.symbols.symbolOrigin)
    }

    static func admit(
        _ value: (module: ModuleIndex, symbols: ModuleSymbols), at row: RowPlace,
        by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(value.module, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        var modules: [ModuleIndex: ModuleSymbols] = [:]
        try reader.scanValues(Self.self) { value, row throws(ReadFailure) in
            guard modules[value.module] == nil else { throw row.invalid("module") }
            modules[value.module] = value.symbols
        }
        try reader.scanValues(ModuleRemarksTable.self) { value, row throws(ReadFailure) in
            guard let known = modules[value.module],
                known.remarks.count < ModuleSymbols.mostRemarks
            else { throw row.invalid("module") }
            modules[value.module]?.remarks.append(value.remark)
        }
        recording.symbols.modules = modules
    }
}

/// Remarks on the modules.
enum ModuleRemarksTable: UnruledTable {
    static let tableName = "module_remarks"
    static let layout = TableLayout(Self.self)

    static var blank: (module: ModuleIndex, remark: ModuleRemark) {
        (ModuleIndex(0), ModuleRemark(.unreadable))
    }

    static func visit<V: ColumnVisitor>(
        _ value: inout (module: ModuleIndex, remark: ModuleRemark), by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("module", &value.module)
        try columns.word("kind", &value.remark.kind)
        try columns.text("detail", &value.remark.detail)
    }
}
