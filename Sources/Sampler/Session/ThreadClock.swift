import ProfileModel

/// How often a thread left its core (`status`): because it waited for something, or because it
/// was pushed off.
struct SwitchCounts: Hashable, Sendable {
    var voluntary: Int64
    var forced: Int64
}

/// Turns the kernel's cumulative counters of a thread into the four states of the time since the
/// last look, which always add up to the elapsed time.
///
/// The run time is exact because the thread is off its core when it is read (blocked or stopped);
/// run delay is brought up to date by the kernel whenever the thread gets a core. What is left is
/// blocked, less the time for which the profiler itself held the thread (preempted).
struct ThreadClock: Hashable, Sendable {
    private(set) var time: MonotonicTime
    private(set) var counters: SchedulerCounters
    private var switches: SwitchCounts?
    /// CPU time that was learned of too late for the span that it belongs to: what came before was
    /// told already. It goes where there is room for it, so that nothing is lost.
    private var owed = TimeSpan.zero
    /// Held by the profiler since `time`.
    private var held = TimeSpan.zero
    /// The profiler's stops since ``switches`` was read.
    private var stops: Int64 = 0

    /// - Parameter switches: what a thread that is not new has behind it; nil counts from 0.
    init(time: MonotonicTime, counters: SchedulerCounters, switches: SwitchCounts? = nil) {
        self.time = time
        self.counters = counters
        self.switches = switches
    }

    /// Notes a stop that was the profiler's doing.
    mutating func addHold(_ span: TimeSpan) {
        held = held + max(.zero, span)
        stops += 1
    }

    /// Below this much waiting for a core it is not worth asking whether it was preemption.
    static let worthAsking = TimeSpan(nanoseconds: 50_000)

    func delay(since newer: SchedulerCounters) -> TimeSpan {
        TimeSpan(nanoseconds: max(0, newer.delay - counters.delay))
    }

    /// Too little to have been a wait: what it takes to leave a core and get it back.
    static let negligible = TimeSpan(nanoseconds: 10_000)

    /// The CPU time by `now` of a thread that has not waited for anything since: what was not spent
    /// wanting a core. The kernel's own figure of one that runs lags.
    func run(until now: MonotonicTime, _ newer: SchedulerCounters) -> Int64 {
        let span = max(.zero, now - time) - delay(since: newer)
        return max(newer.run, counters.run &+ max(0, span.nanoseconds))
    }

    /// A CPU time that the program told by itself, as far as it can be so: no more than has gone by
    /// since the last look, but for what the kernel's own figure lagged behind then.
    func believable(_ cpu: Int64, at now: MonotonicTime) -> Int64 {
        let span = max(.zero, now - time) + Self.longestLag
        return min(max(cpu, counters.run), counters.run &+ span.nanoseconds)
    }

    /// More than a scheduler tick of any kernel, ten times over.
    private static let longestLag = TimeSpan.milliseconds(100)

    /// What neither running nor waiting for a core accounts for.
    func rest(until now: MonotonicTime, _ newer: SchedulerCounters) -> TimeSpan {
        (now - time) - TimeSpan(nanoseconds: newer.run - counters.run) - delay(since: newer)
    }

    /// The states since the last call.
    ///
    /// - Parameters:
    ///   - isContinuous: the thread was on its core (or wanted one) at both ends and did not
    ///     leave it by itself in between: nothing can have blocked it, and what it waited for a
    ///     core, it was pushed off one.
    ///   - switches: how often it left its core so far, when that was worth asking.
    mutating func advance(
        to now: MonotonicTime, counters newer: SchedulerCounters, isContinuous: Bool,
        switches newSwitches: SwitchCounts? = nil
    ) -> StateTimes {
        let wall = max(.zero, now - time)
        let used = owed + TimeSpan(nanoseconds: max(0, newer.run - counters.run))
        let running = min(wall, used)
        let waited = min(wall - running, delay(since: newer))
        let rest = wall - running - waited
        let byProfiler = isContinuous ? rest : min(rest, held)
        let preempted = preempted(of: waited, isContinuous: isContinuous, switches: newSwitches)
        defer {
            time = now > time ? now : time
            counters = newer
            owed = used - running
            held = .zero
            if let newSwitches { (switches, stops) = (newSwitches, 0) }
        }
        return StateTimes(
            running: running, runnable: waited - preempted, preempted: preempted + byProfiler,
            blocked: rest - byProfiler)
    }

    /// How much of the waiting for a core followed being pushed off it. Where a thread was both
    /// woken and pushed off since the last look, the kernel does not tell the waits apart: each
    /// switch counts the same.
    private func preempted(
        of waited: TimeSpan, isContinuous: Bool, switches newer: SwitchCounts?
    ) -> TimeSpan {
        guard let newer else { return isContinuous ? waited : .zero }
        let older = switches ?? SwitchCounts(voluntary: 0, forced: 0)
        let forced = max(0, newer.forced - older.forced)
        // The kernel counts our stops as voluntary.
        let voluntary = max(0, newer.voluntary - older.voluntary - stops)
        guard forced + voluntary > 0 else { return isContinuous ? waited : .zero }
        return TimeSpan(
            nanoseconds: Int64(
                Double(waited.nanoseconds) * Double(forced) / Double(forced + voluntary)))
    }
}
