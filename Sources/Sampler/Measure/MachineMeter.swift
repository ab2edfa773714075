import Glibc
import ProfileModel
import System

/// What everything but the programs and us does on the machine, while launches are made.
///
/// The kernel counts in hundredths of a second, which says nothing of most launches. So one meter
/// serves all of a measurement: of a short launch, it tells what was true of the last quarter of a
/// second, in which there were launches before it, and what lies between them.
struct MachineMeter {
    /// What has been used up to a moment, since the machine and we were started.
    struct Reading: Hashable, Sendable {
        var time: MonotonicTime
        /// Of all cores together.
        var idle: TimeSpan
        /// What the hypervisor gave to others.
        var stolen: TimeSpan
        /// CPU time of ours and of all programs that we have started.
        var own: TimeSpan
    }

    /// What others had in a stretch of time.
    struct Share: Hashable, Sendable {
        /// CPU time, and what the hypervisor gave to others.
        var work: TimeSpan
        var stolen: TimeSpan
    }

    private let cores: Int64
    /// At launches' begins, in order: those that the next launch may need.
    private var readings: [Reading] = []

    init(cores: Int64) { self.cores = cores }

    /// A launch is about to begin.
    ///
    /// - Parameter reading: nil: it cannot be read.
    mutating func begin(_ reading: Reading?) {
        guard let reading else { return readings = [] }
        readings.append(reading)
    }

    /// What others had in the last launch, which took so long; nil: not known yet.
    ///
    /// - Parameter end: at its end.
    mutating func end(_ end: Reading?, after launch: TimeSpan) -> Share? {
        guard let end,
            let index = readings.lastIndex(where: { end.time - $0.time >= MachineWatch.shortest })
        else { return nil }
        readings.removeFirst(index)
        let start = readings[0]
        let span = end.time - start.time
        let whole = TimeSpan(nanoseconds: span.nanoseconds &* cores)
        let stolen = max(.zero, end.stolen - start.stolen)
        let work = whole - (end.idle - start.idle) - stolen - (end.own - start.own)
        let part = min(1, max(0, Double(launch.nanoseconds) / Double(span.nanoseconds)))
        func share(_ time: TimeSpan) -> TimeSpan {
            TimeSpan(nanoseconds: Int64(Double(max(.zero, time).nanoseconds) * part))
        }
        return Share(work: share(work), stolen: share(stolen))
    }
}

extension MachineMeter {
    init() { self.init(cores: Int64(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))) }
}

extension MachineMeter.Reading {
    /// - Parameter program: one that goes on; of those that have been waited for, the kernel knows.
    /// - Returns: nil: that cannot be read.
    static func now(besides program: Int32?) -> Self? {
        var own = MachineWatch.ownCPU + MachineWatch.endedCPU
        if let program {
            let files = ProcessFiles(pid: program)
            guard let used = files.cpuTime, let children = files.childrenCPU else { return nil }
            own = own + used + children
        }
        guard let totals = MachineTotals.now else { return nil }
        return Self(time: .now, idle: totals.idle, stolen: totals.stolen, own: own)
    }
}
