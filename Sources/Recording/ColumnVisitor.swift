import CSQLite
import ProfileModel

/// What is done with a row's columns, one after the other: they are declared (``TableLayout``), written
/// (``RowTarget/write(_:_:at:)``) or read (``Row``). A property that may be nil is a column that may be
/// NULL.
protocol ColumnVisitor {
    associatedtype Failure: Error

    /// - Parameter base: in packed rows, the earlier column that the values are relative to.
    mutating func integer<Value: StoredInteger>(
        _ name: StaticString, _ value: inout Value, relativeTo base: StaticString?
    ) throws(Failure)
    mutating func integer<Value: StoredInteger>(
        _ name: StaticString, _ value: inout Value?
    ) throws(Failure)
    mutating func text(_ name: StaticString, _ value: inout String) throws(Failure)
    mutating func text(_ name: StaticString, _ value: inout String?) throws(Failure)
    mutating func blob(_ name: StaticString, _ value: inout [UInt8]) throws(Failure)

    /// The error for a value that is never written.
    func invalid(_ name: StaticString) -> Failure
}

extension ColumnVisitor {
    mutating func integer<Value: StoredInteger>(
        _ name: StaticString, _ value: inout Value
    ) throws(Failure) {
        try integer(name, &value, relativeTo: nil)
    }

    /// One of the words that the column may have.
    mutating func word<Word: RawRepresentable<String>>(
        _ name: StaticString, _ value: inout Word
    ) throws(Failure) {
        var word = value.rawValue
        try text(name, &word)
        guard let known = Word(rawValue: word) else { throw invalid(name) }
        value = known
    }

    mutating func word<Word: RawRepresentable<String>>(
        _ name: StaticString, _ value: inout Word?
    ) throws(Failure) {
        var word = value?.rawValue
        try text(name, &word)
        value = word.flatMap { Word(rawValue: $0) }
        if word != nil, value == nil { throw invalid(name) }
    }

    /// Three columns.
    mutating func frame(_ frame: inout FrameAddress) throws(Failure) {
        try integer("module", &frame.module)
        try integer("address", &frame.address.value)
        try integer("kind", &frame.address.kind)
    }

    /// Two columns; both are NULL if the outcome is unknown.
    mutating func outcome(_ outcome: inout Recording.Outcome) throws(Failure) {
        var (name, value) = outcome.stored
        try text("outcome", &name)
        try integer("outcome_value", &value)
        guard let known = Recording.Outcome(storedName: name, value: value) else {
            throw invalid("outcome")
        }
        outcome = known
    }
}

/// Collects the declarations of a table's columns.
struct ColumnList: ColumnVisitor {
    typealias Failure = SQLiteFailure

    private var columns: [Column] = []

    static func columns<T: Table>(of _: T.Type) -> [Column] {
        var (list, value) = (ColumnList(), T.blank)
        // No value is read, so none is invalid.
        try? T.visit(&value, by: &list)
        return list.columns
    }

    mutating func integer<Value: StoredInteger>(
        _ name: StaticString, _: inout Value, relativeTo base: StaticString?
    ) {
        let index = base.flatMap { base in columns.firstIndex { $0.name == "\(base)" } }
        columns.append(Column(kind: .integer, name: "\(name)", base: index.map { $0 + 1 }))
    }

    mutating func integer<Value: StoredInteger>(_ name: StaticString, _: inout Value?) {
        columns.append(Column(kind: .integer, name: "\(name)", mayBeNull: true))
    }

    mutating func text(_ name: StaticString, _: inout String) {
        columns.append(Column(kind: .text, name: "\(name)"))
    }

    mutating func text(_ name: StaticString, _: inout String?) {
        columns.append(Column(kind: .text, name: "\(name)", mayBeNull: true))
    }

    mutating func blob(_ name: StaticString, _: inout [UInt8]) {
        columns.append(Column(kind: .blob, name: "\(name)"))
    }

    func invalid(_: StaticString) -> SQLiteFailure { SQLiteFailure(code: SQLITE_MISUSE) }
}

// The contents of blank values.

extension MonotonicTime {
    static var blank: MonotonicTime { MonotonicTime(nanoseconds: 0) }
}

extension FrameAddress {
    static var blank: FrameAddress {
        FrameAddress(module: nil, address: CodeAddress(0, .instruction))
    }
}
