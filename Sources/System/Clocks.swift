import Glibc
package import ProfileModel

extension MonotonicTime {
    package static var now: MonotonicTime {
        MonotonicTime(nanoseconds: Clock.nanoseconds(CLOCK_MONOTONIC))
    }
}

/// The time of day, which may jump: only for dates, never for measuring.
package enum WallClock {
    /// In nanoseconds since 1970 UTC.
    package static var now: Int64 { Clock.nanoseconds(CLOCK_REALTIME) }
}

package enum CPUClock {
    /// CPU time of the calling thread.
    package static var ofThread: TimeSpan {
        TimeSpan(nanoseconds: Clock.nanoseconds(CLOCK_THREAD_CPUTIME_ID))
    }
}

private enum Clock {
    static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var now = timespec()
        clock_gettime(clock, &now)
        return Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)
    }
}
