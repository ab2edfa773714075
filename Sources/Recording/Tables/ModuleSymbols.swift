import ProfileModel

/// Where each module's symbols came from.
enum ModuleSymbolsTable: Int32, RecordingTable {
    case module = 1, debugInfoPath, debugInfoOrigin, symbolOrigin

    static let tableName = "module_symbols"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .module: .integer("module")
        case .debugInfoPath: .text("debug_info_path").orNull()
        case .debugInfoOrigin: .text("debug_info_origin").orNull()
        case .symbolOrigin: .text("symbol_origin").orNull()
        }
    }

    static func write(
        _ value: (module: ModuleIndex, symbols: ModuleSymbols),
        to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.module, value.module)
        try row.set(.debugInfoPath, value.symbols.debugInfoPath)
        try row.set(.debugInfoOrigin, value.symbols.debugInfoOrigin?.rawValue)
        try row.set(.symbolOrigin, value.symbols.symbolOrigin?.rawValue)
    }

    static func read(
        _ row: inout Row<Self>
    ) throws(ReadFailure) -> (module: ModuleIndex, symbols: ModuleSymbols) {
        let symbols = ModuleSymbols(
            debugInfoPath: try row.optionalText(.debugInfoPath),
            debugInfoOrigin: try row.optionalWord(.debugInfoOrigin),
            symbolOrigin: try row.optionalWord(.symbolOrigin))
        return (try row.integer(.module), symbols)
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
            guard modules[value.module] == nil else { throw row.invalid(.module) }
            modules[value.module] = value.symbols
        }
        try reader.scanValues(ModuleRemarksTable.self) { value, row throws(ReadFailure) in
            guard let known = modules[value.module],
                known.remarks.count < ModuleSymbols.mostRemarks
            else { throw row.invalid(.module) }
            modules[value.module]?.remarks.append(value.remark)
        }
        recording.symbols.modules = modules
    }
}

/// Remarks on the modules.
enum ModuleRemarksTable: Int32, UnruledTable {
    case module = 1, kind, detail

    static let tableName = "module_remarks"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .module: .integer("module")
        case .kind: .text("kind")
        case .detail: .text("detail")
        }
    }

    static func write(
        _ value: (module: ModuleIndex, remark: ModuleRemark),
        to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.module, value.module)
        try row.set(.kind, value.remark.kind.rawValue)
        try row.set(.detail, value.remark.detail)
    }

    static func read(
        _ row: inout Row<Self>
    ) throws(ReadFailure) -> (module: ModuleIndex, remark: ModuleRemark) {
        let remark = ModuleRemark(try row.word(.kind), try row.text(.detail))
        return (try row.integer(.module), remark)
    }
}
