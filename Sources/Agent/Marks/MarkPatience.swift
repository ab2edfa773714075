package import ProfileModel

/// Limits how often the program may be held so that marks can be placed. A thread that stays in the
/// kernel stops late, and all others stay stopped while we wait for it.
package struct MarkPatience {
    /// How long to wait for a thread's stop.
    package static let forStops = TimeSpan.milliseconds(20)
    /// After a failed attempt, the program runs this many times as long as it was held.
    private static let pause: Int64 = 50
    /// The total time for which the program may be held in vain.
    private static let most = TimeSpan.milliseconds(400)

    private var spent = TimeSpan.zero
    private var next: MonotonicTime?

    package func allows(at now: MonotonicTime) -> Bool { next.map { now >= $0 } ?? true }

    package mutating func failed(from start: MonotonicTime, to end: MonotonicTime) {
        let cost = end - start
        spent = spent + cost
        next = end + TimeSpan(nanoseconds: cost.nanoseconds &* Self.pause)
    }

    /// True if there will be no further attempt.
    package var isOver: Bool { spent >= Self.most }
}
