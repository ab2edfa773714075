import Glibc
package import ProfileModel

/// What everything but a program and us does on the machine, from a moment on.
package struct MachineMeter: Sendable {
    private let start: MachineTotals?
    private let time: MonotonicTime
    private let own: TimeSpan

    package init() {
        start = .now
        time = .now
        own = MachineWatch.ownCPU
    }

    /// CPU time of all others until now, and what the hypervisor gave to others; nil: not known, as of
    /// spans that are too short for the kernel's figures, which count in hundredths of a second.
    ///
    /// - Parameter program: CPU time that the program has used meanwhile.
    package func since(program: TimeSpan?) -> (work: TimeSpan, stolen: TimeSpan)? {
        guard let start, let program, .now - time >= MachineWatch.shortest,
            let end = MachineTotals.now
        else { return nil }
        let ours = program + (MachineWatch.ownCPU - own)
        return (max(.zero, end.busy - start.busy - ours), max(.zero, end.stolen - start.stolen))
    }
}

/// How fast the cores are.
enum CoreFrequency {
    private static let files: [String] = (0..<mostCores)
        .map { "/sys/devices/system/cpu/cpu\($0)/cpufreq/scaling_cur_freq" }
        .filter { access($0, R_OK) == 0 }

    /// Of a larger machine those are enough.
    private static let mostCores = 64

    /// In kHz; nil: the kernel does not tell, as in most virtual machines.
    static var mean: Int64? {
        var sum: Int64 = 0
        var count: Int64 = 0
        var buffer = ReadBuffer(capacity: 64)
        for file in files {
            buffer.read(path: file)
            var text = buffer.text
            guard let value = text.decimal(), value > 0, value < 1 << 40 else { continue }
            sum += value
            count += 1
        }
        return count == 0 ? nil : sum / count
    }
}
