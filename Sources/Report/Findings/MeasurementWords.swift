import Analysis
import Exports
import ProfileModel

extension MeasurementNote {
    /// The same as in the JSON report.
    var kind: String {
        switch self {
        case .profilerOverhead: "profiler_overhead"
        case .busyMachine: "busy_machine"
        }
    }

    /// A short text for the summary.
    var brief: String {
        guard case .busyMachine(let machine) = self else { return text }
        return "the machine was busy: \(Self.words(for: machine).prefix(1).joined()); "
            + Self.advice(on: machine)
    }

    var text: String {
        switch self {
        case .profilerOverhead(let held, let share):
            "the profiler slowed this launch: it stopped threads for \(Numbers.time(held)) "
                + "(\(Self.percent(share)) of their busy time)"
        case .busyMachine(let machine):
            "the machine was busy: \(Self.words(for: machine).joined(separator: ", ")); "
                + Self.advice(on: machine)
        }
    }

    private static func advice(on machine: BusyMachine) -> String {
        machine.computes ? "trust CPU, not wall time" : "its waits may be longer than usual"
    }

    /// The most important fact comes first.
    private static func words(for machine: BusyMachine) -> [String] {
        [
            machine.lacked.map {
                "\(Numbers.time($0)) of \(Numbers.time(machine.wall)) waiting for a core"
            },
            machine.others.map { "other processes had \(percent($0)) of all cores" },
            machine.stolen.map { "the hypervisor took \(percent($0))" },
            machine.disk.map { "other processes waited for storage \(percent($0)) of the time" },
            machine.cores.map { "some thread waited for a core \(percent($0)) of the time" },
        ].compactMap { $0 }
    }

    private static func percent(_ share: Double) -> String {
        Numbers.percent(Int64(max(0, share) * 1000), of: 1000 as Int64)
    }
}
