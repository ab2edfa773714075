import CSystem
import Glibc

/// Tells how old a process is: a file made before a process began does not belong to it.
package enum ProcessAge {
    /// When a process began, in seconds since 1970, at most two seconds early; nil: it is gone.
    package static func start(of pid: Int32) -> Int? {
        guard let stat = ProcessFiles(pid: pid).stat() else { return nil }
        var (machine, now) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &machine)
        clock_gettime(CLOCK_REALTIME, &now)
        let ticks = max(1, sysconf(Int32(_SC_CLK_TCK)))
        let age = machine.tv_sec - Int(clamping: stat.startTicks) / ticks
        return now.tv_sec - age - 1
    }
}
