import ProcessIO
import ProfileModel

/// How often a thread left its core (`status`), because it waited for something or because it was
/// pushed off.
struct SwitchCounts: Hashable, Sendable {
    var voluntary: Int64
    var forced: Int64
}

/// Divides the time since the last look into the four states, from the kernel's cumulative counters
/// of a thread. The states always add up to the elapsed time.
///
/// The run time is exact where the thread is off its core when it is read (blocked or stopped); a sample of
/// a running thread brings the thread's own CPU clock along.
/// The kernel brings the run delay up to date whenever the thread gets a core. The rest is blocked,
/// less the time for which the profiler itself held the thread (preempted).
struct ThreadClock: Hashable, Sendable {
    private(set) var time: MonotonicTime
    private(set) var counters: SchedulerCounters
    private var switches: SwitchCounts?
    /// CPU time that came too late for its span, because that was already reported. It is added
    /// where there is room for it, so that nothing is lost.
    private var owed = TimeSpan.zero
    /// For how long the profiler held it since `time`.
    private var held = TimeSpan.zero
    /// The profiler's stops since ``switches`` was read.
    private var stops: Int64 = 0

    /// - Parameter switches: the count so far of a thread that is not new; nil counts from 0.
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

    /// If the wait for a core was shorter than this, it is not worth asking whether it was
    /// preemption.
    static let worthAsking = TimeSpan(nanoseconds: 50_000)

    func delay(since newer: SchedulerCounters) -> TimeSpan {
        TimeSpan(nanoseconds: max(0, newer.delay - counters.delay))
    }

    /// Shorter spans are no waits: leaving a core and getting it back takes that long.
    static let negligible = TimeSpan(nanoseconds: 10_000)

    /// A CPU time that an event counted or the program reported, as far as it is believable: no more than the
    /// time since the last look, plus what the kernel's own figure lagged behind then.
    func believable(_ cpu: Int64, at now: MonotonicTime) -> Int64 {
        let span = max(.zero, now - time) + Self.longestLag
        return min(max(cpu, counters.run), counters.run &+ span.nanoseconds)
    }

    /// Ten times longer than a scheduler tick of any kernel.
    private static let longestLag = TimeSpan.milliseconds(100)

    /// The time that is neither running nor waiting for a core.
    func rest(until now: MonotonicTime, _ newer: SchedulerCounters) -> TimeSpan {
        (now - time) - TimeSpan(nanoseconds: newer.run - counters.run) - delay(since: newer)
    }

    /// The states since the last call.
    ///
    /// - Parameters:
    ///   - isContinuous: at both ends the thread was on its core (or wanted one), and in between it
    ///     did not leave its core by itself. So nothing can have blocked it, and if it waited for a
    ///     core, it had been pushed off one.
    ///   - switches: how often it left its core so far, if that was worth asking.
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

    /// The part of the wait for a core that followed being pushed off it. If a thread was both
    /// woken and pushed off since the last look, the kernel does not tell these waits apart: each
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
