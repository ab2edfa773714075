import CSystem
import Glibc
package import ProfileModel
import System

/// Whether the kernel may be asked to sample threads, as far as that is known.
package struct EventAvailability {
    package private(set) var isRefused = false
    private var next: MonotonicTime?

    package init() {}

    /// Descriptors or locked memory that are short now may be free later.
    private static let pause = TimeSpan.milliseconds(100)

    package func mayBeTried(at now: MonotonicTime) -> Bool {
        !isRefused && next.map { now >= $0 } != false
    }

    /// Opening a thread's events failed.
    package mutating func failed(_ error: SystemError, at now: MonotonicTime) {
        switch error.code {
        case ESRCH: break  // that thread has ended
        case EPERM, EACCES, ENOSYS, EINVAL, EOPNOTSUPP, ENOENT, ENODEV: isRefused = true
        default: next = now + Self.pause
        }
    }

    /// True if the kernel refuses us events even of our own threads, and so of any thread.
    package static let areRefused: Bool = {
        let descriptor = fl_open_samples(0, 1_000_000, 4096, Int32(FL_OWN_CODE), 0)
        guard descriptor < 0 else {
            PerfRing.close(descriptor)
            return false
        }
        var availability = EventAvailability()
        availability.failed(SystemError("opening an event", code: -descriptor), at: .now)
        return availability.isRefused
    }()
}
