import Analysis
import ProfileModel

/// A row of the table `launches`.
struct LaunchRow {
    private let session: ShippedSession
    private let index: Int
    private let arm: Int
    let date: Int64
    private let program: ProgramColumns
    private let machine: MeasuredMachine?
    private let conditions: MeasuredConditions?
    private let launch: MeasuredLaunch

    init(
        _ measurement: Measurement, _ launch: MeasuredLaunch, _ index: Int,
        _ session: ShippedSession
    ) {
        self.session = session
        self.index = index
        self.launch = launch
        arm = launch.arm
        let (sum, isTooMuch) = session.date.addingReportingOverflow(launch.start.nanoseconds)
        date = isTooMuch ? session.date : max(0, sum)
        program = ProgramColumns(measurement, arm: launch.arm)
        machine = measurement.machine
        conditions = measurement.conditions
    }

    /// For a recording, whose launch counts.
    init(_ profile: Profile, _ session: ShippedSession) {
        self.session = session
        (index, arm, date) = (0, 0, session.date)
        program = ProgramColumns(profile)
        (machine, conditions) = (nil, nil)
        var launch = MeasuredLaunch(
            arm: 0, start: .zero, wall: profile.launch.wall, outcome: profile.header.outcome)
        launch.cpu = profile.launch.cpu
        launch.readyBy = profile.ready?.by
        // Whole phases, as in launches that were measured without stacks.
        launch.phases = profile.wholePhases.map {
            MeasuredPhase(name: $0.name, wall: $0.wall, cpu: $0.cpu)
        }
        self.launch = launch
    }

    func write(to row: inout RowBinaryWriter) {
        row.add(program.name)
        row.add(session.number)
        row.add(UInt32(clamping: index))
        row.add(date)
        row.add(UInt8(clamping: arm))
        row.add(program.path)
        row.add(program.build)
        row.add(program.version)
        row.add(machine?.host ?? "")
        row.add(machine?.kernel ?? "")
        row.add(machine?.architecture ?? "")
        row.add(machine?.processor ?? "")
        row.add(Int64(machine?.cores ?? 0))
        row.add(conditions?.cache.rawValue ?? "")
        row.add(conditions?.usualUntil ?? []) { $0.add($1) }
        row.add(program.arguments) { $0.add($1) }
        row.add(conditions?.network)
        row.add(conditions?.diskRate)
        row.add(launch.discarded?.rawValue ?? "")
        row.add(launch.outcome.words)
        row.add(launch.readyBy)
        row.add(launch.wall.nanoseconds)
        row.add(launch.cpu?.nanoseconds)
        row.add(launch.mainBlocked?.nanoseconds)
        row.add(launch.minorFaults)
        row.add(launch.majorFaults)
        row.add(launch.readBytes)
        row.add(launch.phases) { $0.add($1.name) }
        row.add(launch.phases) { $0.add($1.wall.nanoseconds) }
        row.add(launch.phases) { $0.add($1.cpu?.nanoseconds) }
    }
}

extension Recording.Outcome {
    fileprivate var words: String {
        switch self {
        case .exited(let status): "exited \(status)"
        case .signalled(let number): "signalled \(number)"
        case .running: "running"
        case .unknown: "unknown"
        }
    }
}
