import ProfileModel

/// A table of a file. Its cases are its columns, in the order of the file and numbered from 1;
/// `id`, the row's position in its list, is before them. Everything about a table is in its file in
/// `Tables`.
protocol Table: CaseIterable, RawRepresentable, Sendable where RawValue == Int32 {
    /// The value that a row represents.
    associatedtype Value

    static var tableName: String { get }
    /// `TableLayout(Self.self)`, made once.
    static var layout: TableLayout { get }
    /// Whether its rows are in ``ChunksTable`` where a file has that.
    static var isPacked: Bool { get }
    /// True if a later row may replace an earlier one with the same id.
    static var isUpdated: Bool { get }

    var column: Column { get }

    /// Sets all columns in their order; ``RowEncoder`` refuses anything else.
    static func write(
        _ value: Value, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure)
}

extension Table {
    static var isPacked: Bool { false }
    static var isUpdated: Bool { false }
}

/// A table whose rows are read one by one.
protocol ReadableTable: Table {
    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> Value
}

/// A table of recordings with packed rows.
protocol RecordingTable: ReadableTable {
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
    private var mayBeNull = false
    /// In packed rows, the column that its values are relative to. It comes before this one.
    private(set) var base: Int?

    static func integer(_ name: String) -> Column { Column(kind: .integer, name: name) }
    static func text(_ name: String) -> Column { Column(kind: .text, name: name) }
    static func blob(_ name: String) -> Column { Column(kind: .blob, name: name) }

    private init(kind: ColumnKind, name: String) {
        (self.kind, self.name) = (kind, name)
    }

    func orNull() -> Column {
        var column = self
        column.mayBeNull = true
        return column
    }

    func relative(to base: some Table) -> Column {
        var column = self
        column.base = Int(base.rawValue)
        return column
    }

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
        columns = T.allCases.map(\.column)
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
