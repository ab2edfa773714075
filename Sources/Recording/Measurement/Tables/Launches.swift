import ProfileModel

/// All launches, those that do not count included.
enum LaunchesTable: Table {
    static let tableName = "launches"
    static let layout = TableLayout(Self.self)

    static var blank: MeasuredLaunch {
        MeasuredLaunch(arm: 0, start: .zero, wall: .zero, outcome: .unknown)
    }

    static func visit<V: ColumnVisitor>(
        _ launch: inout MeasuredLaunch, by columns: inout V
    ) throws(V.Failure) {
        try columns.integer("arm", &launch.arm)
        try columns.integer("start_ns", &launch.start)
        try columns.word("discarded", &launch.discarded)
        try columns.integer("wall_ns", &launch.wall)
        try columns.integer("held_ns", &launch.held)
        try columns.integer("cpu_ns", &launch.cpu)
        try columns.integer("main_blocked_ns", &launch.mainBlocked)
        try columns.integer("minor_faults", &launch.minorFaults)
        try columns.integer("major_faults", &launch.majorFaults)
        try columns.integer("read_bytes", &launch.readBytes)
        try columns.integer("cached_bytes", &launch.cachedBytes)
        try columns.integer("file_bytes", &launch.fileBytes)
        try columns.integer("other_work_ns", &launch.otherWork)
        try columns.integer("stolen_ns", &launch.stolen)
        try columns.integer("frequency_khz", &launch.frequency)
        try columns.outcome(&launch.outcome)
        try columns.text("ready_by", &launch.readyBy)
        try columns.text("output", &launch.output)
    }
}

extension TableReader {
    mutating func launches() throws(ReadFailure) -> [MeasuredLaunch] {
        var launches: [MeasuredLaunch] = []
        try scan(LaunchesTable.self) { row, _ throws(ReadFailure) in
            launches.append(try LaunchesTable.read(&row))
        }
        return launches
    }
}
