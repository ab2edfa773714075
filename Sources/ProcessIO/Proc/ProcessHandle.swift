import CSystem
import Glibc
package import ProfileModel
import System

/// Stands for one process, even if another process gets its id later.
package final class ProcessHandle {
    private let pid: Int32
    private let descriptor: Int32

    package init(_ pid: Int32) {
        self.pid = pid
        let opened = fl_open_pid(pid)
        let isKept = opened >= 0 && DescriptorReserve.leaves(opened)
        if opened >= 0, !isKept { close(opened) }
        descriptor = isKept ? opened : -1
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// True if the process still exists, perhaps ended but not waited for; nil: unknown.
    package var isThere: Bool? { descriptor < 0 ? nil : fl_signal_pid(descriptor, 0) != -ESRCH }

    /// How the process ended; nil: it has not, or the kernel does not tell us.
    package var outcome: Recording.Outcome? {
        guard descriptor >= 0 else { return nil }
        var status: Int32 = 0
        if fl_end_of_pid(descriptor, &status) == 1 {
            return TraceEvent(status: status)?.outcome
        }
        // Known only until the parent waits for the process.
        let known = ProcessFiles(pid: pid).endOfZombie
        return known != nil && isThere == true ? known : nil
    }
}
