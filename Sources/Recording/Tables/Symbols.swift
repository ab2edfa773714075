package import ProfileModel

/// The texts of ``SymbolsTable``, each once.
enum StringsTable: Int32, UnruledTable {
    case value = 1

    static let tableName = "strings"
    static let layout = TableLayout(Self.self)

    var column: Column { .text("value") }

    static func write(
        _ text: String, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.value, text)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> String {
        try row.text(.value)
    }
}

/// A function at an address, with the rows of its texts.
struct StoredSymbol {
    var address: FrameAddress
    /// Among the functions at the address; the outermost is 0.
    var position: Int
    var function: Int?
    var file: Int?
    var line: Int32?
    var isInlined: Bool
    var isUnoptimized: Bool
    var linkageName: Int?
}

/// The meaning of addresses: a row for each function at an address. Empty if the recording was not
/// symbolicated.
enum SymbolsTable: Int32, RecordingTable {
    case module = 1, address, kind, position, function, file, line, isInlined, isUnoptimized
    case linkageName

    static let tableName = "symbols"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .module: .integer("module").orNull()
        case .address: .integer("address")
        case .kind: .integer("kind")
        case .position: .integer("position")
        case .function: .integer("function").orNull()
        case .file: .integer("file").orNull()
        case .line: .integer("line").orNull()
        case .isInlined: .integer("inlined")
        case .isUnoptimized: .integer("unoptimized")
        case .linkageName: .integer("linkage_name").orNull()
        }
    }

    static func write(
        _ symbol: StoredSymbol, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.module, symbol.address.module)
        try row.set(.address, symbol.address.address.value)
        try row.set(.kind, symbol.address.address.kind)
        try row.set(.position, symbol.position)
        try row.set(.function, symbol.function)
        try row.set(.file, symbol.file)
        try row.set(.line, symbol.line)
        try row.set(.isInlined, symbol.isInlined)
        try row.set(.isUnoptimized, symbol.isUnoptimized)
        try row.set(.linkageName, symbol.linkageName)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> StoredSymbol {
        StoredSymbol(
            address: try row.frame(.module, .address, .kind),
            position: try row.integer(.position), function: try row.optional(.function),
            file: try row.optional(.file), line: try row.optional(.line),
            isInlined: try row.integer(.isInlined),
            isUnoptimized: try row.integer(.isUnoptimized),
            linkageName: try row.optional(.linkageName))
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
            else { throw row.invalid(.position) }
            frames[key, default: []].append(frame)
            current = key
        }
        recording.symbols.frames = frames
    }

    private static func sourceFrame(
        _ symbol: StoredSymbol, _ row: Row<Self>, _ strings: [String]
    ) throws(ReadFailure) -> SourceFrame {
        func string(_ index: Int?, _ column: Self) throws(ReadFailure) -> String? {
            guard let index else { return nil }
            guard strings.indices.contains(index) else { throw row.invalid(column) }
            return strings[index]
        }
        if let line = symbol.line, line < 0 { throw row.invalid(.line) }
        return SourceFrame(
            function: try string(symbol.function, .function),
            file: try string(symbol.file, .file), line: symbol.line,
            isInlined: symbol.isInlined, isUnoptimized: symbol.isUnoptimized,
            linkageName: try string(symbol.linkageName, .linkageName))
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
