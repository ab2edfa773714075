import ProfileModel

/// When something that was not found is searched for again: after longer and longer pauses.
struct RepeatedSearch {
    private var next: MonotonicTime
    private var pause: TimeSpan

    static let firstPause = TimeSpan.milliseconds(1)
    static let longestPause = TimeSpan.milliseconds(500)

    init(at now: MonotonicTime, firstPause: TimeSpan = Self.firstPause) {
        next = now
        pause = firstPause
    }

    func isDue(at now: MonotonicTime) -> Bool { now >= next }

    mutating func postpone(at now: MonotonicTime, upTo longest: TimeSpan = longestPause) {
        next = now + pause
        pause = min(pause + pause, longest)
    }
}
