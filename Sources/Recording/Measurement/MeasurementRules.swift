import ProfileModel

/// The rules of every measurement, like those of recordings in ``Consistency``. A measurement that
/// passes has no index out of range, no times and sizes so large that thousands of them cannot be
/// added, and phases that add up to their launches.
struct MeasurementRules {
    private static let range = 0...Consistency.latest
    /// The limit of `firstlight measure -n`.
    private static let mostRequested = 100_000
    private static let mostArms = 2
    /// The limit, in bytes, for a phase's name, for the condition that a launch met, and for a
    /// program's output.
    private static let longestText = 16 << 10

    private(set) var launches = 0
    private(set) var phases = 0
    private(set) var processes = 0
    private var arms = 0

    /// Everything but the launches.
    mutating func admit(_ measurement: Measurement) throws(Inconsistency) {
        let header = measurement.header
        try Self.require(
            1...Self.mostRequested ~= header.requested, "measurement", 0,
            "requested is out of range")
        try Self.require(header.date >= 0, "measurement", 0, "date_ns is out of range")
        try Self.require(
            measurement.conditions.diskRate.map { 1...Consistency.latest ~= $0 } ?? true,
            "conditions", 0, "disk_rate is out of range")
        let machine = measurement.machine
        try Self.require(1...Int(Int32.max) ~= machine.cores, "machine", 0, "cores is out of range")
        try Self.require(Self.range ~= machine.memory, "machine", 0, "memory is out of range")
        arms = measurement.arms.count
        try Self.require(1...Self.mostArms ~= arms, "arms", arms, "there must be one or two")
        for (row, arm) in measurement.arms.enumerated() where arm.command.isEmpty {
            throw Inconsistency(table: "arms", row: row, problem: "has no command")
        }
    }

    mutating func admit(_ launch: MeasuredLaunch) throws(Inconsistency) {
        try require(0..<arms ~= launch.arm, "no such arm")
        try require(Self.range ~= launch.start.nanoseconds, "a time out of range")
        let times = [
            launch.wall, launch.held, launch.cpu, launch.mainBlocked, launch.otherWork,
            launch.stolen,
        ]
        for time in times.compactMap({ $0?.nanoseconds }) {
            try require(Self.range ~= time, "a time out of range")
        }
        let counts = [
            launch.minorFaults, launch.majorFaults, launch.readBytes, launch.cachedBytes,
            launch.fileBytes,
        ]
        for count in counts.compactMap({ $0 }) {
            try require(Self.range ~= count, "a count out of range")
        }
        try require(
            launch.frequency.map { 1...Consistency.latest ~= $0 } ?? true,
            "frequency_khz is out of range")
        for text in [launch.output, launch.readyBy ?? ""] {
            try require(text.utf8.count <= Self.longestText, "a text is too long")
        }
        try admitPhases(of: launch)
        try admitProcesses(of: launch)
        launches += 1
    }

    /// If the phases are known, they must tile the launch.
    private mutating func admitPhases(of launch: MeasuredLaunch) throws(Inconsistency) {
        var rest = launch.wall.nanoseconds
        for phase in launch.phases {
            let wall = phase.wall.nanoseconds
            try Self.require(
                Self.range ~= wall && Self.range ~= phase.cpu?.nanoseconds ?? 0, "phases", phases,
                "a time out of range")
            try Self.require(
                phase.name.utf8.count <= Self.longestText, "phases", phases, "its name is too long")
            // Both are small enough for this subtraction.
            rest -= wall
            try Self.require(rest >= 0, "phases", phases, "is more than its launch")
            phases += 1
        }
        try require(
            rest == 0 || launch.phases.isEmpty, "its phases do not add up to its wall time")
    }

    private mutating func admitProcesses(of launch: MeasuredLaunch) throws(Inconsistency) {
        var names: Set<String> = []
        for named in launch.processes ?? [] {
            try Self.require(
                1...Int(Int32.max) ~= named.count && 0...named.count ~= named.running
                    && Self.range ~= named.wall.nanoseconds
                    && Self.range ~= named.cpu?.nanoseconds ?? 0, "processes", processes,
                "a figure out of range")
            try Self.require(
                named.name.utf8.count <= Self.longestText, "processes", processes,
                "its name is too long")
            try Self.require(
                names.insert(named.name).inserted, "processes", processes, "its name is there twice"
            )
            processes += 1
        }
        if launch.processes == [] { processes += 1 }
    }

    private func require(
        _ condition: Bool, _ problem: @autoclosure () -> String
    ) throws(Inconsistency) {
        try Self.require(condition, "launches", launches, problem())
    }

    private static func require(
        _ condition: Bool, _ table: String, _ row: Int, _ problem: @autoclosure () -> String
    ) throws(Inconsistency) {
        guard condition else {
            throw Inconsistency(table: table, row: row, problem: problem())
        }
    }
}
