import ProfileModel

/// A table of a file. Everything about a table is in its file in `Tables`. Its first column is `id`,
/// the row's position in its list.
protocol Table: Sendable {
    /// The value that a row represents.
    associatedtype Value

    static var tableName: String { get }
    /// `TableLayout(Self.self)`, made once.
    static var layout: TableLayout { get }
    /// Whether its rows are in ``ChunksTable`` where a file has that.
    static var isPacked: Bool { get }
    /// True if a later row may replace an earlier one with the same id.
    static var isUpdated: Bool { get }

    /// A value into which a row is read. Its contents do not matter.
    static var blank: Value { get }
    /// Names the columns in the order of the file, each with the property that it holds.
    static func visit<V: ColumnVisitor>(
        _ value: inout Value, by columns: inout V
    ) throws(V.Failure)
}

extension Table {
    static var isPacked: Bool { false }
    static var isUpdated: Bool { false }

    static func read(_ row: inout Row) throws(ReadFailure) -> Value {
        var value = blank
        row.begin()
        try visit(&value, by: &row)
        return value
    }
}

/// A table of recordings with packed rows.
protocol RecordingTable: Table {
    /// True for tables with many rows per second. They are skipped when only addresses are read.
    static var isLong: Bool { get }

    /// The type that the rule checks: a row's value, unless a row holds several things.
    associatedtype Ruled = Value
    /// The rule for a value that follows all values admitted before. Both reader and writer call
    /// it.
    static func admit(
        _ value: Ruled, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency)
    /// Reads all rows.
    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure)
    /// Appends all rows.
    static func save(
        _ recording: Recording, to writer: RecordingWriter
    ) throws(RecordingError)
}

/// For tables that are read and written along with another one.
extension RecordingTable {
    static var isPacked: Bool { true }
    static var isLong: Bool { false }

    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {}

    static func save(
        _ recording: Recording, to writer: RecordingWriter
    ) throws(RecordingError) {}
}

/// A table whose rows are a list of a recording.
protocol ListTable: RecordingTable where Ruled == Value {
    static var list: WritableKeyPath<Recording, [Value]> { get }
    /// The waiting rows of a writer.
    static var rows: KeyPath<WaitingRows, TableRows<Self>> { get }
}

extension ListTable {
    static func load(
        _ recording: inout Recording, from reader: inout TableReader
    ) throws(ReadFailure) {
        recording[keyPath: list] = try reader.values(of: Self.self)
    }

    static func save(_ recording: Recording, to writer: RecordingWriter) throws(RecordingError) {
        let rows = writer.rows[keyPath: rows]
        for value in recording[keyPath: list] { try writer.append(value, to: rows) }
    }
}

/// A table without a rule: the code that reads its rows checks their references.
protocol UnruledTable: RecordingTable {}

extension UnruledTable {
    static func admit(
        _ value: Value, at row: RowPlace, by rules: inout Consistency
    ) throws(Inconsistency) {}
}

/// The type of a column.
enum ColumnKind: String {
    case integer = "INTEGER"
    case text = "TEXT"
    case blob = "BLOB"
}

/// How a column is declared.
struct Column {
    let kind: ColumnKind
    let name: String
    var mayBeNull = false
    /// In packed rows, the column that its values are relative to; the first behind `id` is 1. It
    /// comes before this one.
    var base: Int?

    /// The column's declaration in SQL.
    var declaration: String { "\(name) \(kind.rawValue)" + (mayBeNull ? "" : " NOT NULL") }
}

/// How a table is declared.
struct TableLayout {
    let name: String
    /// Without `id`.
    let columns: [Column]
    /// The SQL that creates the table. The file's own schema must equal it before the file is read.
    let creation: String

    init<T: Table>(_: T.Type) {
        name = T.tableName
        columns = ColumnList.columns(of: T.self)
        let list = columns.map { ", " + $0.declaration }.joined()
        creation = "CREATE TABLE \(name)(id INTEGER PRIMARY KEY\(list))"
    }

    var insertion: String { "INSERT " + rowTarget }

    /// Inserts a row, or replaces the one with its id.
    var replacement: String { "REPLACE " + rowTarget }

    private var rowTarget: String {
        "INTO \(name)(\(names)) VALUES (?\(columns.map { _ in ", ?" }.joined()))"
    }

    var selection: String { "SELECT \(names) FROM \(name) ORDER BY id" }

    private var names: String { (["id"] + columns.map(\.name)).joined(separator: ", ") }
}
