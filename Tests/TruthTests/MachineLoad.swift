import EndToEndSupport
import Glibc

/// The CPU time that the machine's cores and this test have used up to a moment, in nanoseconds.
struct MachineLoad {
    /// On CLOCK_MONOTONIC, in nanoseconds.
    private(set) var time: Int64
    private var busy: Int64
    private var own: Int64

    /// nil: `/proc/stat` cannot be read.
    init?() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        time = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
        guard let busy = Proc.contents("/proc/stat").flatMap(Self.busy(in:)) else { return nil }
        self.busy = busy
        own = Self.used(by: RUSAGE_SELF.rawValue) + Self.used(by: RUSAGE_CHILDREN.rawValue)
    }

    /// All that is not idle: user, nice, system, irq, softirq and steal, in ticks of mostly 10 ms.
    static func busy(in stat: String) -> Int64? {
        let words = stat.prefix { $0 != "\n" }.split(separator: " ")
        guard words.first == "cpu", words.count >= 9 else { return nil }
        let ticks = [1, 2, 3, 6, 7, 8].compactMap { Int64(words[$0]) }
        return ticks.reduce(0, +) * (1_000_000_000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// Of a test's programs, those count that have ended and that we have waited for. A daemon, or a
    /// server that outlives the case, counts as other work.
    private static func used(by subject: __rusage_who_t) -> Int64 {
        var usage = rusage()
        getrusage(subject, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Int64($1.tv_sec) * 1_000_000_000 + Int64($1.tv_usec) * 1000
        }
    }

    /// The share of all cores that other work has used since `start`: from 0 to 1.
    func othersShare(since start: MachineLoad) -> Double {
        let cores = max(1, Int64(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        let others = busy - start.busy - (own - start.own)
        return Double(max(0, others)) / Double(max(1, (time - start.time) * cores))
    }
}
