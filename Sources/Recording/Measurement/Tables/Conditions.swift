import ProfileModel

/// One row: how the launches were made.
enum ConditionsTable: Int32, ReadableTable {
    case cache = 1, network, diskRate

    static let tableName = "conditions"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .cache: .text("cache")
        case .network: .text("network").orNull()
        case .diskRate: .integer("disk_rate").orNull()
        }
    }

    static func write(
        _ conditions: MeasuredConditions, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.cache, conditions.cache.rawValue)
        try row.set(.network, conditions.network)
        try row.set(.diskRate, conditions.diskRate)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> MeasuredConditions {
        MeasuredConditions(
            cache: try row.word(.cache), network: try row.optionalText(.network),
            diskRate: try row.optional(.diskRate))
    }
}

/// The conditions, any of which ended a launch.
enum UntilTable: Int32, ReadableTable {
    case condition = 1

    static let tableName = "until"
    static let layout = TableLayout(Self.self)

    var column: Column { .text("condition") }

    static func write(
        _ condition: String, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.condition, condition)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> String {
        try row.text(.condition)
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
