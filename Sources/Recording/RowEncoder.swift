import CSQLite
import ProfileModel

/// A row on its way into the file.
private struct RowEncoder<Target: RowTarget>: ColumnVisitor {
    let target: Target
    /// The last column that was set; `id` is 1.
    private var last: Int32 = 1

    init(_ target: Target) { self.target = target }

    mutating func integer<Value: StoredInteger>(
        _: StaticString, _ value: inout Value, relativeTo _: StaticString?
    ) throws(SQLiteFailure) {
        last += 1
        try target.bind(last, value.stored)
    }

    mutating func integer<Value: StoredInteger>(
        _: StaticString, _ value: inout Value?
    ) throws(SQLiteFailure) {
        last += 1
        try target.bind(last, value?.stored)
    }

    mutating func text(_: StaticString, _ value: inout String) throws(SQLiteFailure) {
        last += 1
        try target.bind(last, value)
    }

    mutating func text(_: StaticString, _ value: inout String?) throws(SQLiteFailure) {
        last += 1
        try target.bind(last, value)
    }

    mutating func blob(_: StaticString, _ value: inout [UInt8]) throws(SQLiteFailure) {
        last += 1
        try target.bind(last, value)
    }

    func invalid(_: StaticString) -> SQLiteFailure { SQLiteFailure(code: SQLITE_MISUSE) }
}

extension RowTarget {
    /// - Parameter id: the row's position in its list.
    func write<T: Table>(
        _ value: T.Value, _: T.Type, at id: Int
    ) throws(SQLiteFailure) {
        try bind(1, Int64(id))
        var (row, value) = (RowEncoder(self), value)
        try T.visit(&value, by: &row)
        try run()
    }
}
