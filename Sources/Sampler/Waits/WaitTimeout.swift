import ProfileModel

/// The time limit of a call, as the program set it.
enum WaitTimeout: Hashable {
    /// From the wait's beginning.
    case length(TimeSpan)
    case until(MonotonicTime)

    /// - Parameters:
    ///   - nanoseconds: the program's `timespec`; by the clock of real time if `isByRealTime`.
    ///   - monotonic: converts a time of that clock to one of our clock.
    init(
        _ time: FutexCall.Timeout, nanoseconds: Int64, monotonic: (_ real: Int64) -> MonotonicTime
    ) {
        guard time.isAbsolute else {
            self = .length(TimeSpan(nanoseconds: nanoseconds))
            return
        }
        self = .until(
            time.isByRealTime
                ? monotonic(nanoseconds) : MonotonicTime(nanoseconds: nanoseconds))
    }

    /// How long a wait that began then may take.
    func length(from start: MonotonicTime) -> TimeSpan {
        switch self {
        case .length(let length): length
        case .until(let end): max(.zero, end - start)
        }
    }

    /// Whether the wait ended because its time was over. The kernel sets its timer a little before
    /// the wait's beginning is seen: a tick, where the scheduler does not report it, and more on a
    /// busy machine.
    func hasEnded(_ start: MonotonicTime, _ end: MonotonicTime) -> Bool {
        let length = length(from: start)
        let lag = min(TimeSpan.milliseconds(5), TimeSpan(nanoseconds: length.nanoseconds / 20))
        return end - start >= length - lag
    }

    /// "500 ms": from the wait's beginning to a set time it is some microseconds less than the
    /// program wanted.
    func words(from start: MonotonicTime) -> String {
        let nanoseconds = length(from: start).nanoseconds
        guard case .until = self, nanoseconds >= 10_000_000 else {
            return Self.words(nanoseconds)
        }
        return Self.words((nanoseconds + 500_000) / 1_000_000 * 1_000_000)
    }

    /// A length in the largest unit that leaves no fraction; a long one that the program computed,
    /// to a tenth of a millisecond.
    static func words(_ nanoseconds: Int64) -> String {
        let tenth: Int64 = 100_000
        if nanoseconds >= 10_000_000, nanoseconds % 1_000_000 != 0, nanoseconds < .max - tenth {
            let rounded = (nanoseconds + tenth / 2) / tenth
            return rounded % 10 == 0
                ? words(rounded * tenth) : "\(rounded / 10).\(rounded % 10) ms"
        }
        for (unit, name) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "µs")] as [(Int64, _)]
        where nanoseconds >= unit && nanoseconds % unit == 0 {
            return "\(nanoseconds / unit) \(name)"
        }
        return "\(nanoseconds) ns"
    }
}

extension WaitReason {
    /// The reason of a wait that only its time-out ended: the thread slept. But a thread that polls may
    /// have asked a peer that did not answer.
    func timedOut(after words: String) -> WaitReason {
        let detail = (detail ?? (kind == .poll ? "descriptors" : "futex")) + Self.timeout + words
        return WaitReason(kind == .poll ? .poll : .sleep, detail: detail, place: place)
    }
}
