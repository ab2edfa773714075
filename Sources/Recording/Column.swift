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
    /// The first version that has it. In older files it is NULL in every row.
    private(set) var first: Int32 = 0
    /// nil: none allows NULL.
    private var firstWithNull: Int32?
    /// In packed rows, the column that its values are relative to. It comes before this one.
    private(set) var base: Int?

    static func integer(_ name: String) -> Column { Column(kind: .integer, name: name) }
    static func text(_ name: String) -> Column { Column(kind: .text, name: name) }
    static func blob(_ name: String) -> Column { Column(kind: .blob, name: name) }

    private init(kind: ColumnKind, name: String) {
        (self.kind, self.name) = (kind, name)
    }

    /// - Parameter version: the first one that allows NULL.
    func orNull(from version: Int32 = 0) -> Column {
        var column = self
        column.firstWithNull = version
        return column
    }

    /// A column that a later version added, at the end of its table.
    func added(in version: Int32) -> Column {
        var column = orNull()
        column.first = version
        return column
    }

    func relative(to base: some Table) -> Column {
        var column = self
        column.base = Int(base.rawValue)
        return column
    }

    /// The column's declaration in a version's SQL.
    func declaration(asOf version: Int32) -> String {
        let mayBeNull = firstWithNull.map { version >= $0 } ?? false
        return "\(name) \(kind.rawValue)" + (mayBeNull ? "" : " NOT NULL")
    }
}
