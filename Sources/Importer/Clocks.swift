import Glibc
import ProfileModel

extension MonotonicTime {
    static var now: MonotonicTime { MonotonicTime(nanoseconds: reading(CLOCK_MONOTONIC)) }
}

enum CPUClock {
    static var ofThread: TimeSpan {
        TimeSpan(nanoseconds: reading(CLOCK_THREAD_CPUTIME_ID))
    }
}

/// In nanoseconds.
private func reading(_ clock: clockid_t) -> Int64 {
    var now = timespec()
    clock_gettime(clock, &now)
    return Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)
}
