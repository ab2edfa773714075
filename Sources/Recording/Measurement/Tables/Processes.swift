import ProfileModel

/// For launches whose processes are known. A launch without processes has one row without a name.
enum ProcessesTable: Table {
    static let tableName = "processes"
    static let layout = TableLayout(Self.self)

    static var blank: (launch: Int, processes: MeasuredProcesses?) { (0, nil) }

    static func visit<V: ColumnVisitor>(
        _ value: inout (launch: Int, processes: MeasuredProcesses?), by columns: inout V
    ) throws(V.Failure) {
        var (name, processes) = (
            value.processes?.name,
            value.processes ?? MeasuredProcesses(name: "", count: 0, wall: .zero)
        )
        try columns.integer("launch", &value.launch)
        try columns.text("name", &name)
        try columns.integer("count", &processes.count)
        try columns.integer("running", &processes.running)
        try columns.integer("wall_ns", &processes.wall)
        try columns.integer("cpu_ns", &processes.cpu)
        processes.name = name ?? ""
        value.processes = name == nil ? nil : processes
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
                throw row.invalid("launch")
            }
            last = index
            let isFirst = launches[index].processes == nil
            if isFirst { launches[index].processes = [] }
            guard let processes else {
                guard isFirst else { throw row.invalid("name") }
                return
            }
            // A launch has either one row for "none", or rows for processes.
            guard isFirst || launches[index].processes?.isEmpty == false else {
                throw row.invalid("name")
            }
            launches[index].processes?.append(processes)
        }
    }
}
