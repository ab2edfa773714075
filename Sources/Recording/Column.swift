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
