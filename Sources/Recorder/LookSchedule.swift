import ProfileModel

/// When the reader of the ``EventQueue`` looks next.
struct LookSchedule {
    /// How often the reader looks when no thread waits for an answer. A reader that wakes up with cold
    /// caches costs more than the samples of 10 ms do. A longer period would gain little more.
    static let period = TimeSpan.milliseconds(50)
    /// How soon it looks again when a thread waits for an answer: soon enough to answer while the
    /// thread still blocks, seldom enough to leave the cores to the program.
    static let shortPeriod = TimeSpan.milliseconds(10)

    private var lastLook: MonotonicTime
    /// When the first event came.
    var first: MonotonicTime?
    /// Whether one of the events must not wait for the whole of the ``period``.
    var isUrgent = false
    /// Whether the batch before had an urgent event. Then the next one often has one, too.
    private var wasUrgent = false
    /// Whether any event has come yet. The first events come while a program is stopped at its
    /// first instruction, and the reader should not be woken then.
    private var hasBegun = false

    init(lastLook: MonotonicTime) { self.lastLook = lastLook }

    mutating func looked(at now: MonotonicTime, foundEvents: Bool) {
        lastLook = now
        (wasUrgent, isUrgent) = (isUrgent, false)
        hasBegun = hasBegun || foundEvents
    }

    /// True if the next look comes at the end of the short period in any case.
    func looksSoon(at now: MonotonicTime) -> Bool {
        (isUrgent || wasUrgent) && now < lastLook + Self.shortPeriod || !hasBegun
    }

    func due(at now: MonotonicTime) -> MonotonicTime {
        guard hasBegun else { return first.map { $0 + Self.period } ?? now + Self.shortPeriod }
        return lastLook + (isUrgent || looksSoon(at: now) ? Self.shortPeriod : Self.period)
    }
}
