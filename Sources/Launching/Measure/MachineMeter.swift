import Glibc
import ProcessIO
package import ProfileModel
import System

/// The load that other processes put on the machine, besides the programs and us, while launches
/// are made.
///
/// The kernel counts in hundredths of a second, too coarse for most launches. So one meter serves a
/// whole measurement. For a short launch it covers the last quarter of a second, including earlier
/// launches and the time between them.
package struct MachineMeter {
    /// Totals up to a moment, since the machine's start and ours.
    package struct Reading: Hashable, Sendable {
        package var time: MonotonicTime
        /// Idle time, summed over all cores.
        package var idle: TimeSpan
        /// CPU time that the hypervisor gave to other machines.
        package var stolen: TimeSpan
        /// CPU time of ourselves and of all programs that we have started.
        package var own: TimeSpan
    }

    /// Others' use in a span of time.
    package struct Share: Hashable, Sendable {
        /// CPU time of other processes, and time that the hypervisor gave to other machines.
        package var work: TimeSpan
        package var stolen: TimeSpan
    }

    private let cores: Int64
    /// Readings at the begins of launches, in order, as far as the next launch may need them.
    private var readings: [Reading] = []

    package init(cores: Int64) { self.cores = cores }

    /// A launch is about to begin.
    ///
    /// - Parameter reading: nil: it cannot be read.
    package mutating func begin(_ reading: Reading?) {
        guard let reading else { return readings = [] }
        readings.append(reading)
    }

    /// Others' use in the last launch, which took `launch`; nil: not known yet.
    ///
    /// - Parameter end: the reading at the launch's end.
    package mutating func end(_ end: Reading?, after launch: TimeSpan) -> Share? {
        guard let end,
            let index = readings.lastIndex(where: { end.time - $0.time >= MachineLoad.shortest })
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
    package init() { self.init(cores: Int64(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))) }
}

extension MachineMeter.Reading {
    /// - Parameter program: a program that goes on. The kernel's totals cover only programs that
    ///   were waited for.
    /// - Returns: nil: the totals cannot be read.
    package static func now(besides program: Int32?) -> Self? {
        var own = MachineLoad.ownCPU + MachineLoad.endedCPU
        if let program {
            let files = ProcessFiles(pid: program)
            guard let used = files.cpuTime, let children = files.childrenCPU else { return nil }
            own = own + used + children
        }
        guard let totals = MachineTotals.now else { return nil }
        return Self(time: .now, idle: totals.idle, stolen: totals.stolen, own: own)
    }
}
