import ProfileModel

/// The programs that took turns.
enum ArmsTable: Int32, ReadableTable {
    case path = 1

    static let tableName = "arms"
    static let layout = TableLayout(Self.self)

    var column: Column { .text("path") }

    static func write(
        _ arm: MeasuredArm, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.path, arm.path)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> MeasuredArm {
        MeasuredArm(command: [], path: try row.text(.path))
    }
}

/// The arguments of the arms, in order.
enum ArmArgumentsTable: Int32, ReadableTable {
    case arm = 1, text

    static let tableName = "arguments"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .arm: .integer("arm")
        case .text: .text("value")
        }
    }

    static func write(
        _ argument: (arm: Int, text: String), to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.arm, argument.arm)
        try row.set(.text, argument.text)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> (arm: Int, text: String) {
        (try row.integer(.arm), try row.text(.text))
    }
}

extension TableReader {
    mutating func arms() throws(ReadFailure) -> [MeasuredArm] {
        var arms: [MeasuredArm] = []
        try scan(ArmsTable.self) { row, _ throws(ReadFailure) in
            arms.append(try ArmsTable.read(&row))
        }
        try scan(ArmArgumentsTable.self) { row, _ throws(ReadFailure) in
            let (arm, text) = try ArmArgumentsTable.read(&row)
            guard arms.indices.contains(arm) else { throw row.invalid(.arm) }
            arms[arm].command.append(text)
        }
        return arms
    }
}
