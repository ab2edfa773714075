import Analysis
import ProfileModel

/// The columns about a program, common to several tables.
struct ProgramColumns {
    var name: String
    var path: String
    var arguments: [String]
    /// The command's first word, as given. Empty for recordings: it is among the arguments.
    var called = ""
    var build = ""
    var version: String?

    init(_ measurement: Measurement, arm: Int = 0) {
        let measured = measurement.arms.indices ~= arm ? measurement.arms[arm] : nil
        name = measured.map { String($0.name) } ?? ""
        path = measured?.path ?? ""
        called = measured?.command.first ?? ""
        arguments = (measured?.command.dropFirst()).map(Array.init) ?? []
        // The version is the first program's; that of the second one is unknown.
        version = arm == 0 ? measurement.header.versionName : nil
    }

    init(_ profile: Profile) {
        name = profile.program.name
        path = profile.program.path
        arguments = profile.program.arguments
        build = profile.programBuildID.hex
    }
}

/// A row of the table `sessions`.
struct SessionRow {
    private let session: ShippedSession
    private let file: String
    private let kind: Int8
    private let program: ProgramColumns
    private let conditions: MeasuredConditions?
    private let machine: MeasuredMachine?
    private let recorder: String
    private let requested: Int
    private let walls: [Int64]
    private let phases: [HistoryPhase]
    private var isFailed = false
    private var readyBy: String?
    private var capture = ""

    /// - Parameter summary: nil if no launch counts.
    init(
        _ measurement: Measurement, _ summary: HistorySession?, _ session: ShippedSession,
        path: String
    ) {
        self.session = session
        file = path
        kind = 1
        program = ProgramColumns(measurement)
        conditions = measurement.conditions
        machine = measurement.machine
        recorder = measurement.header.recorderVersion
        requested = measurement.header.requested
        walls = (summary?.walls ?? []).map { Int64($0) }
        phases = summary?.phases ?? []
    }

    init(_ profile: Profile, _ session: ShippedSession, path: String) {
        self.session = session
        file = path
        kind = 2
        program = ProgramColumns(profile)
        (conditions, machine) = (nil, nil)
        recorder = profile.header.recorderVersion
        requested = 1
        walls = [profile.launch.wall.nanoseconds]
        phases = []
        isFailed = profile.isFailed
        readyBy = profile.ready?.by
        capture = profile.captureName
    }

    func write(to row: inout RowBinaryWriter) {
        row.add(session.number)
        row.add(kind)
        row.add(session.date)
        row.add(file)
        row.add(program.name)
        row.add(program.path)
        row.add(program.arguments) { $0.add($1) }
        row.add(program.called)
        row.add(program.build)
        row.add(program.version)
        row.add(conditions?.cache.rawValue ?? "")
        row.add(conditions?.network)
        row.add(conditions?.diskRate)
        row.add(conditions?.usualUntil ?? []) { $0.add($1) }
        row.add(conditions?.until ?? []) { $0.add($1) }
        row.add(machine?.host ?? "")
        row.add(machine?.kernel ?? "")
        row.add(machine?.architecture ?? "")
        row.add(machine?.processor ?? "")
        row.add(Int64(machine?.cores ?? 0))
        row.add(machine?.memory ?? 0)
        row.add(machine?.governor)
        row.add(machine?.boot)
        row.add(recorder)
        row.add(Int64(requested))
        row.add(session.ending)
        row.add(session.progress)
        row.add(UInt32(clamping: session.launches))
        row.add(walls) { $0.add($1) }
        row.add(phases) { $0.add($1.name) }
        row.add(phases) { $0.add($1.median) }
        row.add(isFailed)
        row.add(readyBy)
        row.add(capture)
    }
}
