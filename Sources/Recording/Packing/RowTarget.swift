/// Receives a row's values one after another, in the order of the columns; `id` is column 1. Either
/// a statement, or packed rows.
protocol RowTarget {
    func bind(_ index: Int32, _ value: Int64?) throws(SQLiteFailure)
    func bind(_ index: Int32, _ value: String?) throws(SQLiteFailure)
    func bind(_ index: Int32, _ value: [UInt8]) throws(SQLiteFailure)
    /// The row is complete.
    func run() throws(SQLiteFailure)
}

extension RowTarget {
    func bind(_ index: Int32, _ value: Int64) throws(SQLiteFailure) {
        try bind(index, Optional(value))
    }

    func bind(_ index: Int32, _ value: Int) throws(SQLiteFailure) {
        try bind(index, Optional(Int64(value)))
    }

    func bind(_ index: Int32, _ value: Bool) throws(SQLiteFailure) {
        try bind(index, Optional(value ? 1 as Int64 : 0))
    }

    /// Addresses use all 64 bits; SQLite's integers are signed, so the upper half becomes negative.
    func bind(_ index: Int32, bits value: UInt64) throws(SQLiteFailure) {
        try bind(index, Optional(Int64(bitPattern: value)))
    }
}
