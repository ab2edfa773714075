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
