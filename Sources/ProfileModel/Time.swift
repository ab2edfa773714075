/// A length of time in nanoseconds; may be negative as a difference.
package struct TimeSpan: AdditiveArithmetic, Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static let zero = TimeSpan(nanoseconds: 0)

    package static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds &+ right.nanoseconds)
    }

    package static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds &- right.nanoseconds)
    }

    package static func < (left: TimeSpan, right: TimeSpan) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    package static func milliseconds(_ count: Int64) -> TimeSpan {
        TimeSpan(nanoseconds: count &* 1_000_000)
    }
}

/// A moment on `CLOCK_MONOTONIC`, in nanoseconds since its arbitrary origin (boot).
///
/// The kernel's scheduler figures are lengths, never moments: only this clock orders events.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    package static func - (left: MonotonicTime, right: MonotonicTime) -> TimeSpan {
        TimeSpan(nanoseconds: left.nanoseconds &- right.nanoseconds)
    }

    package static func - (left: MonotonicTime, right: TimeSpan) -> MonotonicTime {
        MonotonicTime(nanoseconds: left.nanoseconds &- right.nanoseconds)
    }

    package static func + (left: MonotonicTime, right: TimeSpan) -> MonotonicTime {
        MonotonicTime(nanoseconds: left.nanoseconds &+ right.nanoseconds)
    }
}
