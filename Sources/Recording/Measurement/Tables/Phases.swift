import ProfileModel

/// The phases of the launches, in their order.
enum PhasesTable: Table {
    static let tableName = "phases"
    static let layout = TableLayout(Self.self)

    static var blank: (launch: Int, phase: MeasuredPhase) {
        (0, MeasuredPhase(name: "", wall: .zero))
    }

    static func visit<V: ColumnVisitor>(
        _ value: inout (launch: Int, phase: MeasuredPhase), by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("launch", &value.launch)
        try columns.text("name", &value.phase.name)
        try columns.integer("wall_ns", &value.phase.wall)
        try columns.integer("cpu_ns", &value.phase.cpu)
    }
}

extension TableReader {
    mutating func readPhases(into launches: inout [MeasuredLaunch]) throws(ReadFailure) {
        var last = 0
        try scan(PhasesTable.self) { row, _ throws(ReadFailure) in
            let (index, phase) = try PhasesTable.read(&row)
            guard launches.indices.contains(index), index >= last else {
                throw row.invalid("launch")
            }
            launches[index].phases.append(phase)
            last = index
        }
    }
}
