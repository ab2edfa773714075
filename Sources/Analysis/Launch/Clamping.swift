import ProfileModel

// Recordings come from files, which may be damaged. No machine has times outside these bounds;
// within them, no arithmetic on single slices and moments can overflow.

extension MonotonicTime {
    /// Within `0 ... 2^61` ns (73 years).
    var clamped: MonotonicTime {
        MonotonicTime(nanoseconds: min(max(nanoseconds, 0), 1 << 61))
    }
}

extension TimeSpan {
    /// Within `0 ... 2^59` ns (18 years).
    fileprivate var clamped: TimeSpan { TimeSpan(nanoseconds: min(max(nanoseconds, 0), 1 << 59)) }
}

extension StateTimes {
    fileprivate var clamped: StateTimes {
        StateTimes(
            running: running.clamped, runnable: runnable.clamped, preempted: preempted.clamped,
            blocked: blocked.clamped)
    }
}

extension Slice {
    var clamped: Slice {
        var result = self
        result.start = start.clamped
        result.times = times.clamped
        return result
    }
}
