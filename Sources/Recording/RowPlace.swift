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
