import ProfileModel

/// When the name of a young thread is read again. A thread begins with the name of the thread that
/// made it, and most take their own within milliseconds. A thread that lives for only a few
/// milliseconds is read while it lives.
struct NameReadTimes: Hashable, Sendable {
    /// The thread's age at each read. `ThreadObserver.watchPriority` does the later reads.
    static let ages = [1, 2, 3, 5, 10, 20, 50].map(TimeSpan.milliseconds)

    private let start: MonotonicTime
    /// How many of the ages are past.
    private var past = 0

    /// - Parameter start: when the thread began, or was found.
    init(start: MonotonicTime) { self.start = start }

    /// True if the name should be read at this time.
    func isDue(at now: MonotonicTime) -> Bool { !isOver && now - start >= Self.ages[past] }

    /// The name was read: the ages up to now need no read of their own.
    mutating func noteRead(at now: MonotonicTime) {
        while !isOver, now - start >= Self.ages[past] { past += 1 }
    }

    /// True if the thread is too old for reads of its name alone.
    var isOver: Bool { past == Self.ages.count }
}

/// How many names may be read at a tick: a read takes 1 µs, and there may be hundreds of threads.
struct NameBudget: Hashable, Sendable {
    static let readsPerTick = 4

    private var tick: MonotonicTime?
    private var left = 0

    /// True if one more may be read; counts it.
    ///
    /// - Parameter now: the tick's time.
    mutating func takeRead(at now: MonotonicTime) -> Bool {
        if tick != now { (tick, left) = (now, Self.readsPerTick) }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
