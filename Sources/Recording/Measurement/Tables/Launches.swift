import ProfileModel

/// All launches, those that do not count included.
enum LaunchesTable: Int32, ReadableTable {
    case arm = 1, start, discarded, wall, held, cpu, mainBlocked, minorFaults, majorFaults
    case readBytes, cachedBytes, fileBytes, otherWork, stolen, frequency, outcome, outcomeValue
    case readyBy, output

    static let tableName = "launches"
    static let layout = TableLayout(Self.self)

    var column: Column {
        switch self {
        case .arm: .integer("arm")
        case .start: .integer("start_ns")
        case .discarded: .text("discarded").orNull()
        case .wall: .integer("wall_ns")
        case .held: .integer("held_ns")
        case .cpu: .integer("cpu_ns").orNull()
        case .mainBlocked: .integer("main_blocked_ns").orNull()
        case .minorFaults: .integer("minor_faults").orNull()
        case .majorFaults: .integer("major_faults").orNull()
        case .readBytes: .integer("read_bytes").orNull()
        case .cachedBytes: .integer("cached_bytes").orNull()
        case .fileBytes: .integer("file_bytes").orNull()
        case .otherWork: .integer("other_work_ns").orNull()
        case .stolen: .integer("stolen_ns").orNull()
        case .frequency: .integer("frequency_khz").orNull()
        case .outcome: .text("outcome").orNull()
        case .outcomeValue: .integer("outcome_value").orNull()
        case .readyBy: .text("ready_by").orNull()
        case .output: .text("output")
        }
    }

    static func write(
        _ launch: MeasuredLaunch, to row: inout RowEncoder<Self, some RowTarget>
    ) throws(SQLiteFailure) {
        try row.set(.arm, launch.arm)
        try row.set(.start, launch.start)
        try row.set(.discarded, launch.discarded?.rawValue)
        try row.set(.wall, launch.wall)
        try row.set(.held, launch.held)
        try row.set(.cpu, launch.cpu)
        try row.set(.mainBlocked, launch.mainBlocked)
        try row.set(.minorFaults, launch.minorFaults)
        try row.set(.majorFaults, launch.majorFaults)
        try row.set(.readBytes, launch.readBytes)
        try row.set(.cachedBytes, launch.cachedBytes)
        try row.set(.fileBytes, launch.fileBytes)
        try row.set(.otherWork, launch.otherWork)
        try row.set(.stolen, launch.stolen)
        try row.set(.frequency, launch.frequency)
        try row.set(.outcome, .outcomeValue, launch.outcome)
        try row.set(.readyBy, launch.readyBy)
        try row.set(.output, launch.output)
    }

    static func read(_ row: inout Row<Self>) throws(ReadFailure) -> MeasuredLaunch {
        var launch = MeasuredLaunch(
            arm: try row.integer(.arm), start: try row.integer(.start),
            wall: try row.integer(.wall), outcome: try row.outcome(.outcome, .outcomeValue))
        launch.discarded = try row.optionalWord(.discarded)
        launch.held = try row.integer(.held)
        launch.cpu = try row.optional(.cpu)
        launch.mainBlocked = try row.optional(.mainBlocked)
        launch.minorFaults = try row.optional(.minorFaults)
        launch.majorFaults = try row.optional(.majorFaults)
        launch.readBytes = try row.optional(.readBytes)
        launch.cachedBytes = try row.optional(.cachedBytes)
        launch.fileBytes = try row.optional(.fileBytes)
        launch.otherWork = try row.optional(.otherWork)
        launch.stolen = try row.optional(.stolen)
        launch.frequency = try row.optional(.frequency)
        launch.readyBy = try row.optionalText(.readyBy)
        launch.output = try row.text(.output)
        return launch
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
