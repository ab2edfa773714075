import Analysis
import ProfileModel

/// One of the figures of launches that a summary shows.
enum Figure: Hashable, Sendable {
    case wall
    case phase(String)
    case cpu
    case phaseCPU(String)
    /// All processes with one name that a launch started.
    case processWall(String)
    case processCPU(String)
    case mainBlocked
    case minorFaults
    case majorFaults
    case readBytes

    var title: String {
        switch self {
        case .wall: "Launch"
        case .cpu: "CPU"
        case .phase(let name): name
        case .phaseCPU(let name): "\(name), CPU"
        case .processWall(let name): name
        case .processCPU(let name): "\(name), CPU"
        case .mainBlocked: "Main thread blocked"
        case .minorFaults: "Minor faults"
        case .majorFaults: "Major faults"
        case .readBytes: "Read from disks"
        }
    }

    var quantity: Quantity {
        switch self {
        case .wall, .phase, .cpu, .phaseCPU, .processWall, .processCPU, .mainBlocked: .time
        case .minorFaults, .majorFaults: .count
        case .readBytes: .bytes
        }
    }

    /// The CPU time that belongs to a wall time; nil: there is none.
    var cpu: Figure? {
        switch self {
        case .wall: .cpu
        case .phase(let name): .phaseCPU(name)
        case .processWall(let name): .processCPU(name)
        case .cpu, .phaseCPU, .processCPU, .mainBlocked, .minorFaults, .majorFaults, .readBytes: nil
        }
    }

    /// nil: the launch does not have it, or it is unknown.
    func value(of launch: MeasuredLaunch) -> Double? {
        switch self {
        case .wall: Double(launch.wall.nanoseconds)
        case .cpu: launch.cpu.map { Double($0.nanoseconds) }
        case .phase(let name): Self.sum(launch.phases, name) { $0.wall }
        case .phaseCPU(let name): Self.sum(launch.phases, name) { $0.cpu }
        case .processWall(let name): launch.processes.map { $0.wall(of: name) }
        case .processCPU(let name): launch.processes.flatMap { $0.cpu(of: name) }
        case .mainBlocked: launch.mainBlocked.map { Double($0.nanoseconds) }
        case .minorFaults: launch.minorFaults.map(Double.init)
        case .majorFaults: launch.majorFaults.map(Double.init)
        case .readBytes: launch.readBytes.map(Double.init)
        }
    }

    /// nil: unknown for every launch.
    func distribution(in arm: ArmSummary) -> Distribution? {
        switch self {
        case .wall: arm.wall
        case .cpu: arm.cpu
        case .phase(let name): arm.phases.first { $0.name == name }?.wall
        case .phaseCPU(let name): arm.phases.first { $0.name == name }?.cpu
        case .processWall(let name): arm.processes.first { $0.name == name }?.wall
        case .processCPU(let name): arm.processes.first { $0.name == name }?.cpu
        case .mainBlocked: arm.mainBlocked
        case .minorFaults: arm.minorFaults
        case .majorFaults: arm.majorFaults
        case .readBytes: arm.readBytes
        }
    }

    /// Parts with the same name are one phase.
    private static func sum(
        _ phases: [MeasuredPhase], _ name: String, _ time: (MeasuredPhase) -> TimeSpan?
    ) -> Double? {
        var sum: Double?
        for phase in phases where phase.name == name {
            guard let time = time(phase) else { return nil }
            sum = (sum ?? 0) + Double(time.nanoseconds)
        }
        return sum
    }
}

extension [MeasuredProcesses] {
    /// In nanoseconds; 0 if there are no such processes.
    fileprivate func wall(of name: String) -> Double {
        first { $0.name == name }.map { Double($0.wall.nanoseconds) } ?? 0
    }

    /// nil: unknown.
    fileprivate func cpu(of name: String) -> Double? {
        guard let found = first(where: { $0.name == name }) else { return 0 }
        return found.cpu.map { Double($0.nanoseconds) }
    }
}
