import ProfileModel

/// Where a row's values come from.
enum RowSource {
    case statement(Statement)
    case chunk(UnpackedChunk)
}

/// One row of a table. A value of another type than its column's, or one that the result's type
/// cannot hold, is an error.
struct Row {
    let table: String
    let source: RowSource
    var number = 0
    /// How many bytes of texts and blobs may still be read.
    var byteBudget: Int
    /// The row's index in its chunk.
    var index = 0
    /// The last column that was read; `id` is 0.
    private var column: Int32 = 0

    init(of table: String, _ source: RowSource, byteBudget: Int) {
        (self.table, self.source, self.byteBudget) = (table, source, byteBudget)
    }

    var place: RowPlace { RowPlace(table: table, row: number) }

    func problem(_ text: String) -> ReadFailure { .inconsistency(place.problem(text)) }

    /// Not inlined, to keep the hot path short: the text is made only for an error.
    @inline(never)
    func invalid(_ name: StaticString) -> ReadFailure { problem("\(name) is not valid") }

    mutating func begin() { column = 0 }

    // MARK: Columns by their number; nil: NULL, or of another type

    func isNull(_ column: Int32) -> Bool {
        switch source {
        case .statement(let statement): statement.isNull(column)
        case .chunk(let chunk): chunk.isNull(Int(column), index)
        }
    }

    func integer(_ column: Int32) -> Int64? {
        switch source {
        case .statement(let statement): statement.integer(column)
        case .chunk(let chunk): chunk.integer(Int(column), index)
        }
    }

    mutating func text(_ column: Int32) -> String? {
        switch source {
        case .statement(let statement):
            guard let bytes = statement.text(column), bytes.count <= byteBudget else { return nil }
            byteBudget -= bytes.count
            return String(validating: bytes, as: UTF8.self)
        case .chunk(let chunk): return chunk.text(Int(column), index)
        }
    }

    mutating func blob(_ column: Int32) -> [UInt8]? {
        switch source {
        case .statement(let statement):
            guard let bytes = statement.blob(column), bytes.count <= byteBudget else { return nil }
            byteBudget -= bytes.count
            return Array(bytes)
        case .chunk(let chunk): return chunk.blob(Int(column), index)
        }
    }
}

extension Row: ColumnVisitor {
    mutating func integer<Value: StoredInteger>(
        _ name: StaticString, _ value: inout Value, relativeTo _: StaticString?
    ) throws(ReadFailure) {
        column += 1
        guard let found = integer(column).flatMap({ Value(stored: $0) }) else {
            throw invalid(name)
        }
        value = found
    }

    mutating func integer<Value: StoredInteger>(
        _ name: StaticString, _ value: inout Value?
    ) throws(ReadFailure) {
        column += 1
        guard !isNull(column) else { return value = nil }
        guard let found = integer(column).flatMap({ Value(stored: $0) }) else {
            throw invalid(name)
        }
        value = found
    }

    mutating func text(_ name: StaticString, _ value: inout String) throws(ReadFailure) {
        column += 1
        guard let found = text(column) else { throw invalid(name) }
        value = found
    }

    mutating func text(_ name: StaticString, _ value: inout String?) throws(ReadFailure) {
        column += 1
        guard !isNull(column) else { return value = nil }
        guard let found = text(column) else { throw invalid(name) }
        value = found
    }

    mutating func blob(_ name: StaticString, _ value: inout [UInt8]) throws(ReadFailure) {
        column += 1
        guard let found = blob(column) else { throw invalid(name) }
        value = found
    }
}

/// Which row of which table.
struct RowPlace {
    var table: String
    var row: Int

    /// Not inlined, to keep hot paths short: the text is made only for an error.
    @inline(never)
    func problem(_ text: String) -> Inconsistency {
        Inconsistency(table: table, row: row, problem: text)
    }
}
