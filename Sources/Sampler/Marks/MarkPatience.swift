import ProfileModel

/// How often the program may be held so that marks can be placed. A thread that stays in the kernel
/// stops late, and all others stand while it is waited for.
struct MarkPatience {
    /// How long a thread's stop is waited for.
    static let forStops = TimeSpan.milliseconds(20)
    /// How much longer than it was held the program runs before the next attempt.
    private static let pause: Int64 = 50
    /// For how long it may be held for nothing, in all.
    private static let most = TimeSpan.milliseconds(400)

    private var spent = TimeSpan.zero
    private var next: MonotonicTime?

    func allows(at now: MonotonicTime) -> Bool { next.map { now >= $0 } ?? true }

    mutating func failed(from start: MonotonicTime, to end: MonotonicTime) {
        let cost = end - start
        spent = spent + cost
        next = end + TimeSpan(nanoseconds: cost.nanoseconds &* Self.pause)
    }

    /// Whether it is given up.
    var isOver: Bool { spent >= Self.most }
}
