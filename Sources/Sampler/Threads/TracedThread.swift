import Architecture
import ProcessIO
import ProfileModel

/// One thread of the profiled process, as the recorder follows it.
final class TracedThread {
    enum Phase: Hashable {
        /// Goes about its business.
        case free
        /// Asked to stop at the time given; the stop has not been reported yet.
        case interrupted(MonotonicTime)
        /// At its end; nothing more to see.
        case exited
    }

    /// Where `/proc` shows a blocked thread.
    struct Position: Hashable {
        /// -1 outside a system call.
        var systemCall: Int32
        var stackPointer: UInt64
        var programCounter: UInt64
    }

    /// A stretch of being blocked.
    struct Blocking: Hashable {
        /// Counts the thread's stretches, from 1.
        var serial: UInt32
        var position: Position
        var kind: WaitKind
    }

    let tracee: any ThreadAccess
    let index: ThreadIndex

    // What the ways to take its stacks know of it, each for itself.
    let tracing: ThreadTracing
    let requests = ThreadRequests()
    let timing = ThreadTiming()
    /// The kernel's events of it; nil: none are open. If the thread has a timer, they show the kernel's
    /// code only.
    var samples: ThreadSamples?

    let stack = ThreadStack()
    let statuses: StatusReads
    private(set) var phase = Phase.free
    private(set) var name: String
    /// When its name is read again.
    private var names: NameReadTimes

    /// The stretch of being blocked in which the last look found the thread.
    private(set) var blocked: Blocking?
    /// The facts known about that stretch. They are reported when the stretch ends.
    private(set) var wait: OpenWait?
    /// Whether we stopped it in the middle of that stretch, to read its registers.
    private(set) var isRefined = false
    private var lastSerial: UInt32 = 0

    /// Its last known priority, when that was read, and the counters then.
    private var scheduling: SchedulingClass?
    private var schedulingSeen: MonotonicTime?
    private var countersAtScheduling = SchedulerCounters.zero

    /// How it may be looked at while it runs.
    private(set) var burst = BurstPolicy()
    private(set) var calls = CallHistory()
    private var children = RecentForks()
    private var rests = 0
    /// At how many looks since its last sample it was left alone, because a stop could have done
    /// harm.
    private(set) var unsampledLooks = 0
    var isUnsampled: Bool { unsampledLooks > 0 }

    /// The time that slices account for so far.
    private(set) var observedCPU = TimeSpan.zero
    /// The stacks that stand for that CPU time.
    var samplesTaken = SampleTally()
    private(set) var clock: ThreadClock
    /// The scheduler's reports on it since the last look.
    private(set) var tally = CoreTally()
    /// Whether the last look found the thread on its core, or wanting one.
    private var wasRunning = false
    /// For how long it had wanted a core at the last tick, in nanoseconds.
    private var delayAtTick: Int64?

    /// - Parameters:
    ///   - isNew: true: it has used no CPU time before `start`.
    ///   - isTraced: whether ptrace traces it.
    init(
        _ tracee: any ThreadAccess, index: ThreadIndex, start: MonotonicTime, isNew: Bool,
        isTraced: Bool = true
    ) {
        self.tracee = tracee
        self.index = index
        tracing = ThreadTracing(tracee, isTraced: isTraced)
        statuses = StatusReads(tracee)
        name = ""
        names = NameReadTimes(start: start)
        clock = ThreadClock(time: start, counters: .zero)
        if !isNew, let counters = counters() {
            clock = ThreadClock(
                time: start, counters: counters, switches: switches(counters))
        }
        refreshName()
    }

    var tid: Int32 { tracee.tid }

    /// To be called after an exec, when another thread may have taken its id.
    func reopen(at now: MonotonicTime) {
        tracee.reopen()
        names = NameReadTimes(start: now)
    }

    /// To be called after an exec by another thread, which takes over this id and has other
    /// counters.
    func restartClock(at now: MonotonicTime) {
        reopen(at: now)
        if let counters = counters() { clock = ThreadClock(time: clock.time, counters: counters) }
    }

    /// nil: the thread is gone.
    func counters() -> SchedulerCounters? { tracee.counters() }

    /// nil: the thread is gone, or about to be.
    func activity() -> ThreadActivity? { tracee.activity() }
    /// Whether none of the processes that it forked is there any more.
    var hasNoChild: Bool { tracee.children().isEmpty }

    /// The letter in `stat`: `t` when ptrace has stopped it; nil when it is gone.
    var state: UInt8? { tracee.state() }

    /// The core that it runs on, or ran on last; nil: it is gone.
    var core: Int32? { tracee.standing().core }

    /// nil: the thread is gone.
    func status() -> ThreadStatus? { tracee.status() }

    /// The status: see ``StatusReads``.
    ///
    /// - Parameter looks: for how many looks a status may be used at most.
    func recentStatus(_ counters: SchedulerCounters, looks: Int = 1) -> ThreadStatus? {
        statuses.recent(counters, isAtWork: burst.isAtWork, looks: looks)
    }

    /// - Returns: whether its status as it is now shows its own mask.
    func readMask() -> Bool {
        guard let counters = counters() else { return false }
        statuses.forget()
        return recentStatus(counters) != nil && statuses.knowsMask
    }

    private func switches(_ counters: SchedulerCounters) -> SwitchCounts? {
        statuses.forget(before: counters)
        return recentStatus(counters, looks: .max).map {
            SwitchCounts(voluntary: $0.voluntary, forced: $0.forced)
        }
    }

    /// Forgets requests, because the memory in which it answers is gone.
    func forgetRequests() {
        if timing.timer != nil { samples = nil }
        timing.forget()
        requests.forget()
    }

    // MARK: Phases

    /// It was asked to stop.
    func wasAsked(at time: MonotonicTime) { phase = .interrupted(time) }
    func goOn() { phase = .free }
    func exit() { phase = .exited }

    /// Whether it was asked to stop.
    var isInterrupted: Bool {
        guard case .interrupted = phase else { return false }
        return true
    }

    // MARK: Name and priority

    /// Reads the priority and the name, which change only now and then, if a read is due.
    ///
    /// - Returns: its priority, if that has changed, and whether its name has.
    func readStat(
        _ counters: SchedulerCounters, at now: MonotonicTime
    ) -> (priority: SchedulingClass?, isRenamed: Bool) {
        if let schedulingSeen {
            guard now - schedulingSeen >= Self.priorityInterval, counters != countersAtScheduling
            else { return (nil, false) }
        }
        schedulingSeen = now
        countersAtScheduling = counters
        let standing = tracee.standing()
        // Some kernels write a line break in a name as two characters here: `comm` has the name.
        let mayBeRenamed = standing.name.map { $0 != name } ?? false
        let isRenamed = mayBeRenamed && refreshName()
        guard let found = standing.scheduling, found != scheduling else { return (nil, isRenamed) }
        scheduling = found
        return (found, isRenamed)
    }

    /// How often we look at the priority of a thread that has had a core.
    private static let priorityInterval = TimeSpan.milliseconds(50)

    /// Reads the name again; returns whether it changed.
    @discardableResult
    func refreshName() -> Bool {
        guard let newer = tracee.name(), newer != name else { return false }
        name = newer
        return true
    }

    /// The same at a tick, if a read is due.
    func watchName(at now: MonotonicTime, _ budget: inout NameBudget) -> Bool {
        guard names.isDue(at: now), budget.takeRead(at: now) else { return false }
        names.noteRead(at: now)
        defer { if names.isOver { tracee.leaveName() } }
        return refreshName()
    }

    // MARK: Waits

    /// Whether the same stretch of being blocked goes on. It does if our own stop woke the thread
    /// and let it sleep on, and if the kernel restarts a call with the time that is left
    /// (restart_syscall).
    func isSameBlocking(at position: Position) -> Bool {
        guard let blocked else { return false }
        var before = blocked.position
        let isRestarted = position.systemCall == SystemCall.restart_syscall.rawValue
        if isRestarted { before.systemCall = position.systemCall }
        return (isRefined || isRestarted) && before == position
    }

    func refined() { isRefined = true }
    func forgetRefinement() { isRefined = false }
    func block(_ blocking: Blocking?) { blocked = blocking }
    func keep(_ wait: OpenWait) { self.wait = wait }

    /// - Returns: its wait, and the facts known about it; nil: it does not wait.
    func endWait() -> OpenWait? {
        defer { wait = nil }
        return wait
    }

    func nextBlocking(at position: Position, kind: WaitKind) -> Blocking {
        lastSerial &+= 1
        return Blocking(serial: lastSerial, position: position, kind: kind)
    }

    // MARK: Activity on a core

    /// It was found waiting in a call.
    func sawWait(_ kind: WaitKind, in call: Int32, _ registers: Registers, at time: MonotonicTime) {
        let tracee = tracee
        let isMadeAgain =
            kind > .restartsAfterHandler
            && RestartingCalls.isMadeAgain(call, registers) { tracee.memory(at: $0, count: $1) }
        burst.sawWait(kind, isMadeAgain: isMadeAgain, at: time)
    }

    /// It was found running: see ``BurstPolicy/approach(voluntary:at:)``.
    func approach(voluntary: Int64, at now: MonotonicTime) -> BurstPolicy.Approach {
        burst.approach(voluntary: voluntary, at: now)
    }

    /// It is stopped by us: the stop counts as leaving its core.
    func noteOurStop() {
        if let status = status() { burst.sawStop(voluntary: status.voluntary) }
    }

    /// Notes what a sample's registers show of its calls.
    func saw(_ registers: Registers, at time: MonotonicTime) {
        let tracee = tracee
        calls.saw(registers, at: time) { tracee.memory(at: $0, count: $1) }
    }

    func sawCall() { calls.sawCall() }
    func sawCode() { calls.sawCode() }

    /// Its behaviour in its process's former program is no reason to think that it waits often.
    func forgetHabits() {
        burst = BurstPolicy()
        calls = CallHistory()
    }

    /// Looks at its children: see ``RecentForks``.
    ///
    /// - Returns: whether it has forked lately.
    func lookForForks(at now: MonotonicTime) -> Bool {
        children.look(tracee.children(), at: now)
    }

    /// Whether the thread waits where the last look found it, as far as the scheduler has told.
    var isAsleep: Bool { blocked != nil && tally.isAsleep }

    /// Whether the thread has kept its core since its last sample, or has wanted one since then, as far as
    /// the scheduler has told.
    var isAtWork: Bool { blocked == nil && tally.isAtWork }

    /// A look now and then finds what the scheduler does not tell: the thread's priority, its later names,
    /// the interpreter that it runs.
    ///
    /// - Returns: whether the thread may be left alone at this tick.
    func takeRest() -> Bool {
        rests = (rests + 1) % (blocked == nil ? Self.looksApart : Self.looksApartAsleep)
        return rests != 0
    }

    private static let looksApart = 8
    /// Only others can change what is known of a sleeping thread.
    private static let looksApartAsleep = 32

    /// It was left alone at a look that found it running.
    func leaveAlone() { unsampledLooks += 1 }
    func forgetUnsampledLooks() { unsampledLooks = 0 }

    // MARK: The clock

    func addHold(_ span: TimeSpan) { clock.addHold(span) }

    /// Takes a report of the scheduler on it.
    func saw(_ record: SchedulerRecord) { tally.take(record, after: clock.time) }
    func forgetTally() { tally = CoreTally() }

    /// - Returns: for how long it has wanted a core since the last tick, in nanoseconds.
    func takeDelay(_ counters: SchedulerCounters) -> Int64 {
        defer { delayAtTick = counters.delay }
        return delayAtTick.map { counters.delay - $0 } ?? 0
    }

    /// The states from the last look to `now`.
    ///
    /// - Parameter known: the counters at `now`, if they were already read.
    func advance(
        to now: MonotonicTime, isRunning: Bool, counters known: SchedulerCounters? = nil
    ) -> (start: MonotonicTime, StateTimes) {
        let start = clock.time
        let newer = known ?? counters() ?? clock.counters
        let isContinuous =
            isRunning && wasRunning
            && (newer.timeslices <= clock.counters.timeslices + 1
                || clock.rest(until: now, newer) < ThreadClock.negligible)
        let isWorthAsking = !isContinuous && clock.delay(since: newer) > ThreadClock.worthAsking
        let times = clock.advance(
            to: now, counters: newer, isContinuous: isContinuous,
            switches: isWorthAsking ? switches(newer) : nil)
        wasRunning = isRunning
        tally.restart()
        observedCPU = observedCPU + times.running
        return (start, times)
    }
}

extension TracedThread {
    /// Whether a filter, or strict mode, may forbid the thread the calls of our code. A stopped
    /// thread cannot change its filters.
    var isFiltered: Bool {
        tracee.dispatchesCalls || status()?.isFiltered(beyond: ThreadStatus.ownFilters) != false
    }
}
