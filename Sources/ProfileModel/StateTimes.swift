/// The four states' parts in a span of one thread's wall time; see "The words" in
/// `docs/design/ProfileModel.md`. They add up to the wall time exactly.
package struct StateTimes: AdditiveArithmetic, Hashable, Sendable {
    /// On a core.
    package var running: TimeSpan
    /// Woken, has work, waits for a core.
    package var runnable: TimeSpan
    /// Pushed off its core by other work, including the profiler's stops.
    package var preempted: TimeSpan
    /// Waits for something else: a lock, I/O, sleep, a child …
    package var blocked: TimeSpan

    package init(
        running: TimeSpan = .zero, runnable: TimeSpan = .zero, preempted: TimeSpan = .zero,
        blocked: TimeSpan = .zero
    ) {
        self.running = running
        self.runnable = runnable
        self.preempted = preempted
        self.blocked = blocked
    }

    package static let zero = StateTimes()

    /// The elapsed time that the four parts make up.
    package var wall: TimeSpan { running + runnable + preempted + blocked }

    package static func + (left: StateTimes, right: StateTimes) -> StateTimes {
        StateTimes(
            running: left.running + right.running, runnable: left.runnable + right.runnable,
            preempted: left.preempted + right.preempted, blocked: left.blocked + right.blocked)
    }

    package static func - (left: StateTimes, right: StateTimes) -> StateTimes {
        StateTimes(
            running: left.running - right.running, runnable: left.runnable - right.runnable,
            preempted: left.preempted - right.preempted, blocked: left.blocked - right.blocked)
    }

    /// The part of this span's first `wall` nanoseconds: each state in proportion, and the parts
    /// add up to `wall` exactly. `wall` is clamped to `0 ... self.wall`.
    ///
    /// It divides a slice at a phase's border, because we do not know where in the slice each state
    /// was.
    package func prefix(wall wanted: TimeSpan) -> StateTimes {
        let whole = wall.nanoseconds
        let part = min(max(wanted.nanoseconds, 0), whole)
        guard whole > 0 else { return .zero }
        // Cumulative rounding: each border between two states is rounded once, so that both the
        // prefix and its remainder add up.
        func border(_ cumulated: Int64) -> Int64 {
            let product = cumulated.multipliedFullWidth(by: part)
            return whole.dividingFullWidth(product).quotient
        }
        let first = running.nanoseconds
        let second = first + runnable.nanoseconds
        let third = second + preempted.nanoseconds
        let borders = (border(first), border(second), border(third))
        return StateTimes(
            running: TimeSpan(nanoseconds: borders.0),
            runnable: TimeSpan(nanoseconds: borders.1 - borders.0),
            preempted: TimeSpan(nanoseconds: borders.2 - borders.1),
            blocked: TimeSpan(nanoseconds: part - borders.2))
    }
}
