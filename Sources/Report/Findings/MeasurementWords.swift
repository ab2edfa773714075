import Analysis
import Exports
import ProfileModel

extension MeasurementNote {
    /// As in the JSON report.
    var kind: String {
        switch self {
        case .profilerOverhead: "profiler_overhead"
        case .busyMachine: "busy_machine"
        }
    }

    var text: String {
        switch self {
        case .profilerOverhead(let held, let share):
            "the profiler slowed this launch: it stopped threads for \(Numbers.time(held)) "
                + "(\(Self.percent(share)) of their busy time)"
        case .busyMachine(let machine):
            "the machine was busy: \(Self.words(for: machine)); "
                + (machine.computes
                    ? "trust CPU rather than wall time" : "its waits may be longer than usual")
        }
    }

    private static func words(for machine: BusyMachine) -> String {
        [
            machine.lacked.map {
                "the main thread waited \(Numbers.time($0)) of \(Numbers.time(machine.wall)) for a core"
            },
            machine.others.map { "other processes had \(percent($0)) of all cores" },
            machine.stolen.map { "the hypervisor took \(percent($0))" },
            machine.disk.map { "other processes waited for storage \(percent($0)) of the time" },
            machine.cores.map { "some thread waited for a core \(percent($0)) of the time" },
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private static func percent(_ share: Double) -> String {
        Numbers.percent(Int64(max(0, share) * 1000), of: 1000 as Int64)
    }
}
