import ProfileModel

/// The phases of the launches, in their order.
enum PhasesTable: Int32, ReadableTable {
    case launch = 1, name, wall, cpu

    static let tableName = "phases"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .launch: .integer("launch")
        case .name: .text("name")
        case .wall: .integer("wall_ns")
        case .cpu: .integer("cpu_ns").orNull()
        }
    }

    static func write(
        _ value: (launch: Int, phase: MeasuredPhase), to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.launch, value.launch)
        try row.set(.name, value.phase.name)
        try row.set(.wall, value.phase.wall)
        try row.set(.cpu, value.phase.cpu)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> (
        launch: Int, phase: MeasuredPhase
    ) {
        let phase = MeasuredPhase(
            name: try row.text(.name), wall: try row.integer(.wall), cpu: try row.optional(.cpu))
        return (try row.integer(.launch), phase)
    }
}

extension TableReader {
    mutating func readPhases(into launches: inout [MeasuredLaunch]) throws(ReadFailure) {
        var last = 0
        try scan(PhasesTable.self) { row, _ throws(ReadFailure) in
            let (index, phase) = try PhasesTable.read(&row)
            guard launches.indices.contains(index), index >= last else {
                throw row.invalid(.launch)
            }
            launches[index].phases.append(phase)
            last = index
        }
    }
}
