import CSystem
import Glibc
package import ProfileModel
import System

/// The recorder's one timer, on `CLOCK_MONOTONIC`. Each deadline follows from the first one, so
/// lateness never adds up; it is counted.
package struct Ticker: ~Copyable {
    private let timer: timer_t?
    private var first = MonotonicTime(nanoseconds: 0)
    private let interval: Int64
    private var expirations: Int64 = 0
    package private(set) var served: Int64 = 0
    package private(set) var missed: Int64 = 0
    package private(set) var lateness = TimeSpan.zero

    /// Makes a ticker that does not tick yet.
    ///
    /// - Parameter frequency: ticks a second, 1 or more.
    package init(frequency: Int32) throws(SystemError) {
        interval = 1_000_000_000 / Int64(max(1, frequency))
        var timer: timer_t?  // glibc's first id is 0, which is nil here
        let code = fl_timer_make(fl_tick_signal(), &timer)
        // A timer keeps a signal of its own.
        let hint = code == -EAGAIN ? " (too many signals are pending: raise 'ulimit -i')" : ""
        try check(code, "making the sampling timer" + hint)
        self.timer = timer
    }

    package mutating func start() {
        first = .now + TimeSpan(nanoseconds: interval)
        fl_timer_start(timer, first.nanoseconds, interval)
    }

    deinit {
        fl_timer_delete(timer)
    }

    /// Notes that a tick arrived at `now`, after `overrun` missed ticks.
    package mutating func serve(overrun: Int32, at now: MonotonicTime) {
        expirations += Int64(max(0, overrun)) + 1
        missed += Int64(max(0, overrun))
        served += 1
        let deadline = first + TimeSpan(nanoseconds: (expirations - 1) * interval)
        lateness = lateness + max(.zero, now - deadline)
    }
}
