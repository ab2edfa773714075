import Glibc
import ProfileModel

/// Whether the kernel may be asked to sample threads, as far as that is known.
struct EventAvailability {
    private var isRefused = false
    private var next: MonotonicTime?

    /// What is short now (descriptors, locked memory) may be there later.
    private static let pause = TimeSpan.milliseconds(100)

    func mayBeTried(at now: MonotonicTime) -> Bool {
        !isRefused && next.map { now >= $0 } != false
    }

    /// A thread's events could not be had.
    mutating func failed(_ error: SystemError, at now: MonotonicTime) {
        switch error.code {
        case ESRCH: break  // that thread has ended
        case EPERM, EACCES, ENOSYS, EINVAL, EOPNOTSUPP, ENOENT, ENODEV: isRefused = true
        default: next = now + Self.pause
        }
    }
}
