import Glibc

/// The time of day, which may jump: for dates, and for nothing that is measured.
enum WallClock {
    /// In nanoseconds since 1970 UTC.
    static var now: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)
    }
}
