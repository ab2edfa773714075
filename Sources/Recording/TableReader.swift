import CSQLite
import ProfileModel

/// Why a table could not be read.
enum ReadFailure: Error {
    case failure(SQLiteFailure)
    case inconsistency(Inconsistency)
}

/// Reads tables row by row and turns their columns into checked values.
struct TableReader {
    let database: Database
    /// Bytes of text that may still be read. A sound file stores each of its texts once, so all
    /// of them together are no longer than the file; rows that share their storage, which could
    /// fill any memory from a small file, are found by this.
    var textBudget: Int
    var rules = Consistency()

    /// Calls `body` with each row and the rules. Ids must count up from 0: a repeated or missing
    /// row is found here, and a table whose pages run in circles ends here.
    mutating func scan(
        _ table: Schema.Table, _ body: (inout Row, inout Consistency) throws(ReadFailure) -> Void
    ) throws(ReadFailure) {
        let table = table.asOf(database.version)
        let statement: Statement
        do {
            statement = try database.prepare(table.selection)
        } catch {
            throw .inconsistency(
                Inconsistency(table: table.name, row: 0, problem: "cannot be read"))
        }
        defer { statement.reset() }
        var row = Row(statement: statement, table: table, number: 0, textBudget: textBudget)
        while try Self.step(statement) {
            guard statement.integer(0) == Int64(row.number) else {
                throw .inconsistency(row.problem("its id is out of order"))
            }
            try body(&row, &rules)
            row.number += 1
        }
        textBudget = row.textBudget
    }

    private static func step(_ statement: Statement) throws(ReadFailure) -> Bool {
        do {
            return try statement.step()
        } catch {
            throw .failure(error)
        }
    }

    /// Runs one of the rules.
    static func admit(_ body: () throws(Inconsistency) -> Void) throws(ReadFailure) {
        do {
            try body()
        } catch {
            throw .inconsistency(error)
        }
    }
}

/// One row of a table. Columns are read in the order of ``Schema``, `id` being column 0.
struct Row {
    fileprivate let statement: Statement
    let table: Schema.Table
    fileprivate(set) var number: Int
    fileprivate var textBudget: Int

    func problem(_ text: String) -> Inconsistency {
        Inconsistency(table: table.name, row: number, problem: text)
    }

    /// Out of the hot path: the text is made only for an error.
    @inline(never)
    func invalid(_ column: Int32) -> ReadFailure {
        let index = Int(column) - 1
        let name = table.columns.indices.contains(index) ? table.columns[index].name : "id"
        return .inconsistency(problem("\(name) is not valid"))
    }

    func isNull(_ column: Int32) -> Bool { statement.isNull(column) }

    func integer<Value: FixedWidthInteger>(_ column: Int32) throws(ReadFailure) -> Value {
        guard let stored = statement.integer(column), let value = Value(exactly: stored) else {
            throw invalid(column)
        }
        return value
    }

    func optional<Value: FixedWidthInteger>(_ column: Int32) throws(ReadFailure) -> Value? {
        isNull(column) ? nil : try integer(column)
    }

    func bits(_ column: Int32) throws(ReadFailure) -> UInt64 {
        UInt64(bitPattern: try integer(column))
    }

    func optionalBits(_ column: Int32) throws(ReadFailure) -> UInt64? {
        isNull(column) ? nil : try bits(column)
    }

    func bool(_ column: Int32) throws(ReadFailure) -> Bool {
        let value: Int64 = try integer(column)
        guard value == 0 || value == 1 else { throw invalid(column) }
        return value == 1
    }

    func time(_ column: Int32) throws(ReadFailure) -> MonotonicTime {
        MonotonicTime(nanoseconds: try integer(column))
    }

    func span(_ column: Int32) throws(ReadFailure) -> TimeSpan {
        TimeSpan(nanoseconds: try integer(column))
    }

    mutating func text(_ column: Int32) throws(ReadFailure) -> String {
        guard let bytes = statement.text(column), bytes.count <= textBudget,
            let text = String(validating: bytes, as: UTF8.self)
        else { throw invalid(column) }
        textBudget -= bytes.count
        return text
    }

    mutating func optionalText(_ column: Int32) throws(ReadFailure) -> String? {
        isNull(column) ? nil : try text(column)
    }

    mutating func blob(_ column: Int32) throws(ReadFailure) -> [UInt8] {
        guard let bytes = statement.blob(column), bytes.count <= textBudget else {
            throw invalid(column)
        }
        textBudget -= bytes.count
        return Array(bytes)
    }

    func module(_ column: Int32) throws(ReadFailure) -> ModuleIndex? {
        try (optional(column) as Int?).map(ModuleIndex.init)
    }

    /// A column that version 5 did not have: NULL there.
    private func isMissing(_ column: Int32) -> Bool { Int(column) > table.columns.count }

    /// The column `child`.
    func child(_ column: Int32) throws(ReadFailure) -> ChildIndex? {
        if isMissing(column) { return nil }
        return try (optional(column) as Int?).map(ChildIndex.init)
    }

    mutating func addedText(_ column: Int32) throws(ReadFailure) -> String? {
        isMissing(column) ? nil : try optionalText(column)
    }

    /// A frame's columns `module`, `address` and `kind`, the first of which is given.
    func frame(_ column: Int32) throws(ReadFailure) -> FrameAddress {
        guard let kind = CodeAddress.Kind(rawValue: try integer(column + 2)) else {
            throw invalid(column + 2)
        }
        let address = CodeAddress(try bits(column + 1), kind)
        return FrameAddress(module: try module(column), address: address)
    }
}
