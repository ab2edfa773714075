import ProfileModel

/// How much of our time searching may take: a fiftieth, and a little in advance.
struct SearchBudget {
    private var firstSearch: MonotonicTime?
    /// The time spent on searching, in all.
    private var used = TimeSpan.zero
    private static let first = TimeSpan.milliseconds(5)

    mutating func beginSearch(at now: MonotonicTime) -> Bool {
        let start = firstSearch ?? now
        firstSearch = start
        return used.nanoseconds < Self.first.nanoseconds + (now - start).nanoseconds / 50
    }

    mutating func use(_ time: TimeSpan) { used = used + max(.zero, time) }
}
