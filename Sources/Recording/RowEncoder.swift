import CSQLite
import ProfileModel

/// A row on its way into the file. Its columns must be set in order: if a column is left out, or
/// set out of order, the row fails.
struct RowEncoder<T: Table, Target: RowTarget> {
    private let target: Target
    private var last: Int32 = 0

    fileprivate init(_ target: Target, id: Int) throws(SQLiteFailure) {
        self.target = target
        try target.bind(1, Int64(id))
    }

    mutating func set<Value: StoredInteger>(
        _ column: T, _ value: Value?
    ) throws(SQLiteFailure) {
        try advance(to: column)
        try target.bind(last + 1, value?.stored)
    }

    mutating func set(_ column: T, _ value: String?) throws(SQLiteFailure) {
        try advance(to: column)
        try target.bind(last + 1, value)
    }

    mutating func set(_ column: T, _ value: [UInt8]) throws(SQLiteFailure) {
        try advance(to: column)
        try target.bind(last + 1, value)
    }

    /// Both NULL if the outcome is unknown.
    mutating func set(
        _ name: T, _ value: T, _ outcome: Recording.Outcome
    ) throws(SQLiteFailure) {
        try set(name, outcome.stored.name)
        try set(value, outcome.stored.value)
    }

    private mutating func advance(to column: T) throws(SQLiteFailure) {
        last += 1
        guard column.rawValue == last else { throw SQLiteFailure(code: SQLITE_MISUSE) }
    }

    fileprivate func end() throws(SQLiteFailure) {
        guard Int(last) == T.layout.columns.count else {
            throw SQLiteFailure(code: SQLITE_MISUSE)
        }
        try target.run()
    }
}

extension RowTarget {
    /// - Parameter id: the row's position in its list.
    func write<T: Table>(
        _ value: T.Value, _: T.Type, at id: Int
    ) throws(SQLiteFailure) {
        var row = try RowEncoder<T, Self>(self, id: id)
        try T.write(value, to: &row)
        try row.end()
    }
}
