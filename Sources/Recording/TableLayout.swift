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
