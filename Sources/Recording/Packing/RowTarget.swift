/// Receives a row's values one after another, in the order of the columns; `id` is column 1. Either
/// a statement, or packed rows.
protocol RowTarget {
    func bind(_ index: Int32, _ value: Int64?) throws(SQLiteFailure)
    func bind(_ index: Int32, _ value: String?) throws(SQLiteFailure)
    func bind(_ index: Int32, _ value: [UInt8]) throws(SQLiteFailure)
    /// The row is complete.
    func run() throws(SQLiteFailure)
}
