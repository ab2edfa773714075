import ProfileModel

/// The programs that took turns.
enum ArmsTable: Table {
    static let tableName = "arms"
    static let layout = TableLayout(Self.self)

    static var blank: MeasuredArm { MeasuredArm(command: [], path: "") }

    static func visit<V: ColumnVisitor>(
        _ arm: inout MeasuredArm, by columns: inout V
    ) throws(V.Failure) {
        try columns.text("path", &arm.path)
    }
}

/// The arguments of the arms, in order.
enum ArmArgumentsTable: Table {
    static let tableName = "arguments"
    static let layout = TableLayout(Self.self)

    static var blank: (arm: Int, text: String) { (0, "") }

    static func visit<V: ColumnVisitor>(
        _ argument: inout (arm: Int, text: String), by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("arm", &argument.arm)
        try columns.text("value", &argument.text)
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
            guard arms.indices.contains(arm) else { throw row.invalid("arm") }
            arms[arm].command.append(text)
        }
        return arms
    }
}
