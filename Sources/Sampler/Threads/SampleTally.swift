import ProfileModel

/// How much of threads' CPU time has stacks of its own: a stack is due at each interval of it. The
/// recorder's ticks do not tell that. Where the kernel takes the stacks, a tick that came late finds
/// all of them.
package struct SampleTally: Hashable, Sendable {
    /// Stacks of running threads.
    package private(set) var taken: Int64 = 0
    /// Those that were due besides.
    package private(set) var missed: Int64 = 0
    /// CPU time since the last stack.
    private var rest = TimeSpan.zero

    package init() {}

    /// A thread has had its core.
    ///
    /// - Parameter isSampled: whether a stack was taken at the end of that time.
    mutating func ran(_ time: TimeSpan, isSampled: Bool, interval: Int64) {
        rest = rest + time
        guard isSampled else { return }
        taken += 1
        // Stacks come a bit early and late.
        missed += max(0, (rest.nanoseconds &+ interval / 2) / interval - 1)
        rest = .zero
    }

    /// No stack was due for the thread's time since the last one.
    mutating func skip() { rest = .zero }

    /// The thread has ended.
    mutating func end(interval: Int64) {
        missed += max(0, rest.nanoseconds / interval)
        rest = .zero
    }

    static func += (left: inout SampleTally, right: SampleTally) {
        left.taken += right.taken
        left.missed += right.missed
    }
}
