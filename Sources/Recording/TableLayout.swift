/// How a table is declared in files of one version.
struct TableLayout {
    let name: String
    /// Today's, without `id`.
    let columns: [Column]
    /// The columns that the version has: the first ones.
    let stored: ArraySlice<Column>
    /// The SQL that creates the table. The file's own schema must equal it before the file is read.
    let creation: String

    /// The layout of today.
    init<T: Table>(_: T.Type) {
        self.init(T.tableName, T.allCases.map(\.column), .max)
    }

    private init(_ name: String, _ columns: [Column], _ version: Int32) {
        (self.name, self.columns) = (name, columns)
        stored = columns.prefix { $0.first <= version }
        let list = stored.map { ", " + $0.declaration(asOf: version) }.joined()
        creation = "CREATE TABLE \(name)(id INTEGER PRIMARY KEY\(list))"
    }

    func asOf(_ version: Int32) -> TableLayout { TableLayout(name, columns, version) }

    var insertion: String { "INSERT " + rowTarget }

    /// Inserts a row, or replaces the one with its id.
    var replacement: String { "REPLACE " + rowTarget }

    private var rowTarget: String {
        let names = stored.map { ", \($0.name)" }.joined()
        return "INTO \(name)(id\(names)) VALUES (?\(stored.map { _ in ", ?" }.joined()))"
    }

    /// All of today's columns.
    var selection: String {
        let names = columns.indices.map { stored.indices ~= $0 ? columns[$0].name : "NULL" }
        return "SELECT \((["id"] + names).joined(separator: ", ")) FROM \(name) ORDER BY id"
    }
}
