import CSystem
import Glibc
import ProfileModel

/// The recorder's one timer, on `CLOCK_MONOTONIC`. Deadlines accumulate from the first, so that
/// lateness never adds up; it is counted.
struct Ticker: ~Copyable {
    private let timer: timer_t?
    private let first: MonotonicTime
    private let interval: Int64
    private var expirations: Int64 = 0
    private(set) var served: Int64 = 0
    private(set) var missed: Int64 = 0
    private(set) var lateness = TimeSpan.zero

    /// - Parameter frequency: ticks a second, 1 or more.
    init(frequency: Int32) throws(SystemError) {
        interval = 1_000_000_000 / Int64(max(1, frequency))
        first = .now + TimeSpan(nanoseconds: interval)
        var timer: timer_t?  // glibc's first id is 0, which is nil here
        try check(
            fl_timer_start(fl_tick_signal(), first.nanoseconds, interval, &timer),
            "starting the sampling timer")
        self.timer = timer
    }

    deinit {
        fl_timer_delete(timer)
    }

    /// Notes that a tick arrived at `now`, after `overrun` others that nobody saw.
    mutating func serve(overrun: Int32, at now: MonotonicTime) {
        expirations += Int64(max(0, overrun)) + 1
        missed += Int64(max(0, overrun))
        served += 1
        let deadline = first + TimeSpan(nanoseconds: (expirations - 1) * interval)
        lateness = lateness + max(.zero, now - deadline)
    }
}
