import ProfileModel

/// For launches whose processes are known. A launch without processes has one row without a name.
enum ProcessesTable: Int32, ReadableTable {
    case launch = 1, name, count, running, wall, cpu

    static let tableName = "processes"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .launch: .integer("launch")
        case .name: .text("name").orNull()
        case .count: .integer("count")
        case .running: .integer("running")
        case .wall: .integer("wall_ns")
        case .cpu: .integer("cpu_ns").orNull()
        }
    }

    static func write(
        _ value: (launch: Int, processes: MeasuredProcesses?),
        to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.launch, value.launch)
        try row.set(.name, value.processes?.name)
        try row.set(.count, value.processes?.count ?? 0)
        try row.set(.running, value.processes?.running ?? 0)
        try row.set(.wall, value.processes?.wall ?? .zero)
        try row.set(.cpu, value.processes?.cpu)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> (
        launch: Int, processes: MeasuredProcesses?
    ) {
        let launch: Int = try row.integer(.launch)
        guard let name = try row.optionalText(.name) else { return (launch, nil) }
        let processes = MeasuredProcesses(
            name: name, count: try row.integer(.count), running: try row.integer(.running),
            wall: try row.integer(.wall), cpu: try row.optional(.cpu))
        return (launch, processes)
    }
}

extension MeasuredLaunch {
    /// A launch without processes has a row, too.
    var storedProcesses: [MeasuredProcesses?] {
        guard let processes else { return [] }
        return processes.isEmpty ? [nil] : processes
    }
}

extension TableReader {
    /// The rows must be in the order of their launches.
    mutating func readProcesses(into launches: inout [MeasuredLaunch]) throws(ReadFailure) {
        var last = 0
        try scan(ProcessesTable.self) { row, _ throws(ReadFailure) in
            let (index, processes) = try ProcessesTable.read(&row)
            guard launches.indices.contains(index), index >= last else {
                throw row.invalid(.launch)
            }
            last = index
            let isFirst = launches[index].processes == nil
            if isFirst { launches[index].processes = [] }
            guard let processes else {
                guard isFirst else { throw row.invalid(.name) }
                return
            }
            // A launch has either one row for "none", or rows for processes.
            guard isFirst || launches[index].processes?.isEmpty == false else {
                throw row.invalid(.name)
            }
            launches[index].processes?.append(processes)
        }
    }
}
