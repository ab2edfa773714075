import ProfileModel

/// Where a row's values come from.
enum RowSource {
    case statement(Statement)
    case chunk(UnpackedChunk)
}

/// One row of a table. A value of another type than its column's, or one that the result's type
/// cannot hold, is an error.
struct Row<T: Table> {
    let source: RowSource
    var number = 0
    /// How many bytes of texts and blobs may still be read.
    var byteBudget: Int
    /// The row's index in its chunk.
    var index = 0

    init(_ source: RowSource, byteBudget: Int) {
        (self.source, self.byteBudget) = (source, byteBudget)
    }

    var place: RowPlace { RowPlace(table: T.tableName, row: number) }

    func problem(_ text: String) -> ReadFailure { .inconsistency(place.problem(text)) }

    /// Not inlined, to keep the hot path short: the text is made only for an error.
    @inline(never)
    func invalid(_ column: T) -> ReadFailure { problem("\(column.column.name) is not valid") }

    func isNull(_ column: T) -> Bool {
        switch source {
        case .statement(let statement): statement.isNull(column.rawValue)
        case .chunk(let chunk): chunk.isNull(Int(column.rawValue), index)
        }
    }

    func integer<Value: StoredInteger>(_ column: T) throws(ReadFailure) -> Value {
        let stored: Int64? =
            switch source {
            case .statement(let statement): statement.integer(column.rawValue)
            case .chunk(let chunk): chunk.integer(Int(column.rawValue), index)
            }
        guard let stored, let value = Value(stored: stored) else { throw invalid(column) }
        return value
    }

    /// nil for NULL, here and in the other functions with this beginning.
    func optional<Value: StoredInteger>(_ column: T) throws(ReadFailure) -> Value? {
        isNull(column) ? nil : try integer(column)
    }

    mutating func text(_ column: T) throws(ReadFailure) -> String {
        switch source {
        case .statement(let statement):
            guard let bytes = statement.text(column.rawValue), bytes.count <= byteBudget,
                let text = String(validating: bytes, as: UTF8.self)
            else { throw invalid(column) }
            byteBudget -= bytes.count
            return text
        case .chunk(let chunk):
            guard let text = chunk.text(Int(column.rawValue), index) else {
                throw invalid(column)
            }
            return text
        }
    }

    mutating func optionalText(_ column: T) throws(ReadFailure) -> String? {
        isNull(column) ? nil : try text(column)
    }

    /// One of the words that the column may have.
    mutating func word<Word: RawRepresentable<String>>(
        _ column: T
    ) throws(ReadFailure) -> Word {
        guard let word = Word(rawValue: try text(column)) else { throw invalid(column) }
        return word
    }

    mutating func optionalWord<Word: RawRepresentable<String>>(
        _ column: T
    ) throws(ReadFailure) -> Word? {
        isNull(column) ? nil : try word(column)
    }

    mutating func blob(_ column: T) throws(ReadFailure) -> [UInt8] {
        switch source {
        case .statement(let statement):
            guard let bytes = statement.blob(column.rawValue), bytes.count <= byteBudget else {
                throw invalid(column)
            }
            byteBudget -= bytes.count
            return Array(bytes)
        case .chunk(let chunk):
            guard let bytes = chunk.blob(Int(column.rawValue), index) else {
                throw invalid(column)
            }
            return bytes
        }
    }

    func frame(
        _ module: T, _ address: T, _ kind: T
    ) throws(ReadFailure) -> FrameAddress {
        FrameAddress(
            module: try optional(module),
            address: CodeAddress(try integer(address), try integer(kind)))
    }

    mutating func outcome(_ name: T, _ value: T) throws(ReadFailure) -> Recording.Outcome {
        let outcome = Recording.Outcome(
            storedName: try optionalText(name), value: try optional(value))
        guard let outcome else { throw invalid(name) }
        return outcome
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
