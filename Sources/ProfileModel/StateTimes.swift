/// How a stretch of one thread's wall time splits into the four states; see "The words" in
/// `docs/design/ProfileModel.md`. The four parts add up to the wall time exactly.
package struct StateTimes: AdditiveArithmetic, Hashable, Sendable {
    /// On a core.
    package var running: TimeSpan
    /// Woken, has work, waits for a core.
    package var runnable: TimeSpan
    /// Was on a core and was pushed off it by other work, the profiler's stops included.
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

    /// The first `wall` nanoseconds' share of this stretch, each state in proportion, the parts
    /// adding up to `wall` exactly. `wall` is clamped to `0 ... self.wall`.
    ///
    /// For dividing a slice at a phase's border: where inside it each state lay is not known.
    package func prefix(wall wanted: TimeSpan) -> StateTimes {
        let whole = wall.nanoseconds
        let part = min(max(wanted.nanoseconds, 0), whole)
        guard whole > 0 else { return .zero }
        // Cumulative rounding: each border between two states is rounded once, so that the
        // prefix and its remainder both add up.
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
