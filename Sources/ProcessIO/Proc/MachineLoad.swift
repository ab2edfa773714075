import Glibc
package import ProfileModel
import System

/// The whole machine's activity since its start, and how long processes waited.
package struct MachineTotals: Hashable, Sendable {
    /// CPU time of all processes, and of the kernel for them.
    package var busy: TimeSpan
    /// Time in which cores had nothing to do or waited for storage, summed over all cores. Kernels
    /// that stop the tick on idle cores measure this time; the other figures here are only sampled.
    package var idle = TimeSpan.zero
    /// CPU time that the hypervisor gave to other machines.
    package var stolen: TimeSpan
    /// Time in which at least one process waited for a core, or for storage; nil: unknown.
    package var corePressure: TimeSpan?
    package var diskPressure: TimeSpan?
}

extension MachineTotals {
    /// From `/proc/stat`, `/proc/pressure/cpu` and `/proc/pressure/io`; nil if there is no
    /// `/proc/stat`.
    package init?(stat: ProcText, core: ProcText, disk: ProcText, ticksPerSecond: Int64) {
        var text = stat
        // user nice system idle iowait irq softirq steal; guests are counted in user.
        guard ticksPerSecond > 0, text.skip(toLine: "cpu "), let user = text.decimal(),
            let nice = text.decimal(), let system = text.decimal(), let idle = text.decimal(),
            let storage = text.decimal(), let interrupts = text.decimal(),
            let soft = text.decimal(), let stolen = text.decimal()
        else { return nil }
        func span(_ ticks: Int64) -> TimeSpan {
            TimeSpan(nanoseconds: ticks &* (1_000_000_000 / ticksPerSecond))
        }
        busy = [user, nice, system, interrupts, soft].reduce(.zero) { $0 + span($1) }
        self.idle = span(idle) + span(storage)
        self.stolen = span(stolen)
        corePressure = Self.pressure(core)
        diskPressure = Self.pressure(disk)
    }

    /// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`, in microseconds.
    private static func pressure(_ text: ProcText) -> TimeSpan? {
        var text = text
        guard text.skip(toLine: "some "), text.skip(past: UInt8(ascii: "t")),
            text.skip(past: UInt8(ascii: "=")), let total = text.decimal()
        else { return nil }
        return TimeSpan(nanoseconds: total &* 1000)
    }

    /// nil: it cannot be read.
    package static var now: MachineTotals? {
        var (stat, core, disk) = (ReadBuffer(), ReadBuffer(), ReadBuffer())
        stat.readAll(path: "/proc/stat")
        core.readAll(path: "/proc/pressure/cpu")
        disk.readAll(path: "/proc/pressure/io")
        return MachineTotals(
            stat: stat.text, core: core.text, disk: disk.text,
            ticksPerSecond: Int64(sysconf(Int32(_SC_CLK_TCK))))
    }
}

/// The machine's other activity while a program is recorded: the difference of two readings.
package struct MachineLoad: Sendable {
    private let start: MachineTotals?
    private let time: MonotonicTime
    private let own: TimeSpan
    private let cores: Int64

    /// `/proc/stat` counts in hundredths of a second on each core: a shorter time gives no useful
    /// figure.
    package static let shortest = TimeSpan.milliseconds(250)

    /// Make it before the program starts.
    package init() {
        start = .now
        time = .now
        own = Self.ownCPU
        cores = Int64(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    /// The load so far, as notes.
    ///
    /// - Parameter program: the CPU time that the recorded processes used since the start.
    package func notes(program: TimeSpan) -> [RecorderNote.Kind: Int64] {
        guard let start, let end = MachineTotals.now else { return [:] }
        return Self.notes(
            from: start, to: end, wall: .now - time, cores: cores,
            ours: program + (Self.ownCPU - own))
    }

    /// In thousandths; zero and unknown values are left out.
    package static func notes(
        from start: MachineTotals, to end: MachineTotals, wall: TimeSpan, cores: Int64,
        ours: TimeSpan
    ) -> [RecorderNote.Kind: Int64] {
        guard wall >= shortest else { return [:] }
        func share(_ part: TimeSpan, of cores: Int64) -> Int64? {
            let whole = Double(wall.nanoseconds) * Double(cores)
            let share = Int64(min(1, max(0, Double(part.nanoseconds) / whole)) * 1000)
            return share > 0 ? share : nil
        }
        func length(_ field: KeyPath<MachineTotals, TimeSpan?>) -> TimeSpan {
            guard let first = start[keyPath: field], let last = end[keyPath: field] else {
                return .zero
            }
            return last - first
        }
        let found: [RecorderNote.Kind: Int64?] = [
            .busyElsewhere: share(end.busy - start.busy - ours, of: cores),
            .stolen: share(end.stolen - start.stolen, of: cores),
            .corePressure: share(length(\.corePressure), of: 1),
            .diskPressure: share(length(\.diskPressure), of: 1),
        ]
        return found.compactMapValues { $0 }
    }

    /// The recorder's own CPU time.
    package static var ownCPU: TimeSpan { cpu(of: RUSAGE_SELF) }
    /// CPU time of the processes that the recorder has waited for, and those that they waited for.
    package static var endedCPU: TimeSpan { cpu(of: RUSAGE_CHILDREN) }

    private static func cpu(of who: __rusage_who) -> TimeSpan {
        var usage = rusage()
        guard getrusage(__rusage_who_t(who.rawValue), &usage) == 0 else { return .zero }
        func span(_ time: timeval) -> TimeSpan {
            TimeSpan(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1000)
        }
        return span(usage.ru_utime) + span(usage.ru_stime)
    }
}
