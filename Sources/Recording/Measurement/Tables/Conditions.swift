import ProfileModel

/// One row: how the launches were made.
enum ConditionsTable: Table {
    static let tableName = "conditions"
    static let layout = TableLayout(Self.self)

    static var blank: MeasuredConditions { MeasuredConditions() }

    static func visit<V: ColumnVisitor>(
        _ conditions: inout MeasuredConditions, by columns: inout V
    ) throws(V.Failure) {
        try columns.word("cache", &conditions.cache)
        try columns.text("network", &conditions.network)
        try columns.integer("disk_rate", &conditions.diskRate)
    }
}

/// The conditions, any of which ended a launch.
enum UntilTable: Table {
    static let tableName = "until"
    static let layout = TableLayout(Self.self)

    static var blank: String { "" }

    static func visit<V: ColumnVisitor>(
        _ condition: inout String, by columns: inout V
    ) throws(V.Failure) {
        try columns.text("condition", &condition)
    }
}

extension TableReader {
    mutating func conditions() throws(ReadFailure) -> MeasuredConditions {
        var conditions = try only(ConditionsTable.self)
        try scan(UntilTable.self) { row, _ throws(ReadFailure) in
            conditions.until.append(try UntilTable.read(&row))
        }
        return conditions
    }
}
