package import ProfileModel

/// The texts of ``SymbolsTable``, each once.
enum StringsTable: UnruledTable {
    static let tableName = "strings"
    static let layout = TableLayout(Self.self)

    static var blank: String { "" }

    static func visit<V: ColumnVisitor>(
        _ text: inout String, by columns: inout V
    ) throws(V.Failure) {
        try columns.text("value", &text)
    }
}

/// A function at an address, with the rows of its texts.
struct StoredSymbol {
    var address = FrameAddress.blank
    /// Among the functions at the address; the outermost is 0.
    var position = 0
    var function: Int?
    var file: Int?
    var line: Int32?
    var isInlined = false
    var isUnoptimized = false
    var linkageName: Int?
}

/// The meaning of addresses: a row for each function at an address. Empty if the recording was not
/// symbolicated.
enum SymbolsTable: RecordingTable {
    static let tableName = "symbols"
    static let layout = TableLayout(Self.self)

    static var blank: StoredSymbol { StoredSymbol() }

    static func visit<V: ColumnVisitor>(
        _ symbol: inout StoredSymbol, by columns: inout V
    ) throws(V.Failure) {
        try columns.frame(&symbol.address)
        try columns.integer("position", &symbol.position)
        try columns.integer("function", &symbol.function)
        try columns.integer("file", &symbol.file)
        try columns.integer("line", &symbol.line)
        try columns.integer("inlined", &symbol.isInlined)
        try columns.integer("unoptimized", &symbol.isUnoptimized)
        try columns.integer("linkage_name", &symbol.linkageName)
    }

    static func admit(
        _ symbol: StoredSymbol, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {
        try rules.check(symbol.address.module, row)
    }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        let strings = try reader.values(of: StringsTable.self)
        var frames: [FrameAddress: [SourceFrame]] = [:]
        var current: FrameAddress?
        try reader.scanValues(Self.self) { symbol, row throws(ReadFailure) in
            let frame = try sourceFrame(symbol, row, strings)
            let key = symbol.address
            let isNext = symbol.position > 0 && key == current
            guard symbol.position == (isNext ? frames[key]?.count : 0),
                isNext || frames[key] == nil
            else { throw row.invalid("position") }
            frames[key, default: []].append(frame)
            current = key
        }
        recording.symbols.frames = frames
    }

    private static func sourceFrame(
        _ symbol: StoredSymbol, _ row: Row, _ strings: [String]
    ) throws(ReadFailure) -> SourceFrame {
        func string(_ index: Int?, _ column: StaticString) throws(ReadFailure) -> String? {
            guard let index else { return nil }
            guard strings.indices.contains(index) else { throw row.invalid(column) }
            return strings[index]
        }
        if let line = symbol.line, line < 0 { throw row.invalid("line") }
        return SourceFrame(
            function: try string(symbol.function, "function"),
            file: try string(symbol.file, "file"), line: symbol.line,
            isInlined: symbol.isInlined, isUnoptimized: symbol.isUnoptimized,
            linkageName: try string(symbol.linkageName, "linkage_name"))
    }

    /// Only functions that could not be named later: ``RecordingFile/store(_:references:in:)`` writes
    /// the others.
    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        let runtimes = recording.modules.indices.filter {
            Module.isRuntime(recording.modules[$0].path)
        }
        guard !runtimes.isEmpty else { return }
        let frames = recording.symbols.frames.filter { frame, _ in
            frame.module.map { runtimes.contains($0.rawValue) } ?? false
        }
        for (frame, functions) in frames.sorted(by: {
            ($0.key.module?.rawValue ?? 0, $0.key.address.value)
                < ($1.key.module?.rawValue ?? 0, $1.key.address.value)
        }) {
            if let function = functions.first { try writer.append(function, at: frame) }
        }
    }
}

extension RecordingWriter {
    /// Appends the meaning of a frame whose function has no address, because it cannot be found
    /// later. Call it once for each, after the frame's module.
    package func append(
        _ function: SourceFrame, at frame: FrameAddress
    ) throws(RecordingError) {
        let row = RowPlace(table: SymbolsTable.tableName, row: symbols.count)
        try check { () throws(Inconsistency) in try rules.check(frame.module, row) }
        try write { () throws(SQLiteFailure) in try symbols.write(function, at: frame, 0) }
    }
}
