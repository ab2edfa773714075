import Architecture
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
    var phase = Phase.free
    /// The stretch of being blocked in which the last look found the thread.
    var blocked: Blocking?
    /// What is known of that stretch. It is reported when the stretch ends.
    var wait: OpenWait?
    /// What is known of its priority, when it was read, and the counters then.
    var scheduling: SchedulingClass?
    var schedulingSeen: MonotonicTime?
    var countersAtScheduling = SchedulerCounters.zero
    /// Whether we stopped it in the middle of that stretch, to read its registers.
    var isRefined = false
    /// Whether it was asked to stop.
    var isInterrupted: Bool {
        guard case .interrupted = phase else { return false }
        return true
    }
    /// Whether it has stopped for somebody who is about to wait for that stop.
    var isHeld = false
    /// Whether it runs a piece of our code. Then the call in which it waits is ours, too.
    var isLed = false
    /// The last stop that it was asked to make in its own code.
    var interruption: (any Interruption)?
    /// Whether ptrace has it. Then every signal to it is a stop, and the threads that it clones are
    /// traced, too.
    var isTraced = true
    /// Whether it was told that the user has stopped it. That ends calls.
    var isInGroupStop = false
    /// How it may be looked at while it runs.
    var burst = BurstPolicy()
    var calls = CallHistory()
    var children = RecentForks()
    /// Where it answers requests, once it was asked. The next fields say how often it had had a
    /// core when it was last asked, and how often it had one since without an answer.
    var slot: Int?
    var coresAtRequest: Int64 = 0
    var runAtRequest: Int64 = 0
    var silence = 0
    /// Takes its stacks where neither a signal nor a stop should; nil: these do. If the thread has a
    /// timer, it takes only those in the kernel's code.
    var samples: ThreadSamples?
    /// Of a thread with a timer: what its events showed while we looked for what came before.
    var laterEvents: [ThreadSamples.Observation] = []
    /// The last answer to its timer, without the stack; or none.
    var lastTimed: [SharedSlots.Answer] = []
    /// Has it send us its stacks where it runs its own code; nil: it has none.
    var timer: SignalTimer?
    /// Where it answers its timer's signals. They stay the thread's until its end, because an answer
    /// may come late.
    var timedSlots: [Int] = []
    /// How much CPU time it had used when a timer last showed that it works, or was opened.
    var runAtTimer: Int64 = 0
    /// How often in a row its timer had to begin again, for nothing came.
    var timerRestarts = 0
    /// Whether a timer of its was found not to work.
    var isUntimed = false
    /// Whether it was seen in a signal handler on a stack of its own. Only a stop can copy both
    /// stacks.
    var usesAlternateStack = false
    /// Whether its stack was ever deeper than an event can copy.
    var hasDeepStack = false
    /// At how many looks since it was sampled it was left alone, because a stop could have done harm.
    var unsampledLooks = 0
    var isUnsampled: Bool { unsampledLooks > 0 }
    /// How often it had had a core when it was stopped last.
    var coresAtStop: Int64?
    /// Whether there may be no room for a signal: the thread was once near its stack's end.
    var lacksRoom = false
    /// How many more requests until we ask whether it was ever near its stack's end. To ask is not
    /// free.
    private var requestsToRoom = 0
    /// How often in a row it had to be stopped because it could not be asked.
    var detours = 0
    /// What the scheduler told of it since the last look.
    var tally = CoreTally()
    /// Its stack, as far as it is known.
    var stackPointer: UInt64?
    /// Its stack, if that has a guard without a mapping of its own.
    var guardedStack: MappingWatch.Region?
    /// Whether the last look found the thread on its core, or wanting one.
    var wasRunning = false
    var name: String
    /// When its name is read again.
    private(set) var names: NameReadTimes

    private var lastSerial: UInt32 = 0
    private var lastStatus: ThreadStatus?
    /// How often threads had announced to block the sampling signal when the status was read.
    var masksAtStatus: UInt32 = 0
    /// Whether some thread was about to block it then.
    var wasMasking = false
    private var mask = ThreadMask()
    private var statusTimeslices: Int64 = -1
    private var statusUses = 0
    /// The time that slices account for so far.
    private(set) var observedCPU = TimeSpan.zero
    private(set) var clock: ThreadClock

    var tid: Int32 { tracee.tid }

    /// - Parameter isNew: true: it has used no CPU time before `start`.
    init(_ tracee: any ThreadAccess, index: ThreadIndex, start: MonotonicTime, isNew: Bool) {
        self.tracee = tracee
        self.index = index
        name = ""
        names = NameReadTimes(start: start)
        clock = ThreadClock(time: start, counters: .zero)
        if !isNew, let counters = counters() {
            clock = ThreadClock(
                time: start, counters: counters, switches: switches(counters))
        }
        refreshName()
    }

    /// Whether this request should also ask if the thread was ever near its stack's end.
    func isRoomDue() -> Bool {
        requestsToRoom = requestsToRoom > 0 ? requestsToRoom - 1 : 15
        return requestsToRoom == 15
    }

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

    /// Reads what changes only now and then.
    ///
    /// - Returns: its priority (nil if it is gone), and whether it has another name.
    func readStat() -> (scheduling: SchedulingClass?, isRenamed: Bool) {
        let standing = tracee.standing()
        // Some kernels write a line break in a name as two characters here: `comm` has the name.
        let mayBeRenamed = standing.name.map { $0 != name } ?? false
        return (standing.scheduling, mayBeRenamed && refreshName())
    }

    /// nil: the thread is gone.
    func status() -> ThreadStatus? { tracee.status() }

    /// The status. It is read anew if the thread has had a core since and may have waited, and now
    /// and then: it is the dearest of the files (8 µs).
    ///
    /// - Parameter looks: for how many looks a status may be used at most.
    func recentStatus(_ counters: SchedulerCounters, looks: Int = 1) -> ThreadStatus? {
        let isRecent = (counters.timeslices == statusTimeslices || burst.isAtWork) && mask.isOwn
        if isRecent, statusUses < looks, lastStatus != nil {
            statusUses += 1
            return lastStatus
        }
        lastStatus = status()
        if let lastStatus { mask.saw(lastStatus, timeslices: counters.timeslices) }
        hasBlockedOurs = hasBlockedOurs || lastStatus?.blocksOurs == true
        statusTimeslices = counters.timeslices
        statusUses = 1
        return lastStatus
    }

    func forgetStatus() { lastStatus = nil }

    /// Learns the mask of a thread that sleeps, if it is not known.
    ///
    /// - Parameter counters: its counters when it fell asleep.
    func learnMask(asleepIn call: Int32, _ counters: SchedulerCounters) {
        guard !mask.isOwn, counters.timeslices > 0, let status = status(),
            self.counters()?.timeslices == counters.timeslices
        else { return }
        mask.sawAsleep(status, in: call)
        hasBlockedOurs = hasBlockedOurs || status.blocksOurs
    }

    /// Whether it was ever seen to block a signal that we could send it.
    private(set) var hasBlockedOurs = false

    /// Forgets the mask, because some thread is about to block the sampling signal, or has.
    func forgetMask() {
        forgetStatus()
        mask.forget()
    }

    /// Whether its recent status shows its own mask, and not that of a call in which it waits.
    var knowsMask: Bool { mask.isOwn }

    /// The same for its status as it is now.
    func findsMask() -> Bool {
        guard let counters = counters() else { return false }
        forgetStatus()
        return recentStatus(counters) != nil && mask.isOwn
    }

    private func switches(_ counters: SchedulerCounters) -> SwitchCounts? {
        if counters.timeslices != statusTimeslices { forgetStatus() }
        return recentStatus(counters, looks: .max).map {
            SwitchCounts(voluntary: $0.voluntary, forced: $0.forced)
        }
    }

    /// Forgets requests, because the memory in which it answers is gone.
    func forgetRequests() {
        if timer != nil { samples = nil }
        laterEvents = []
        timer = nil
        timedSlots = []
        (isUntimed, timerRestarts) = (false, 0)
        slot = nil
        silence = 0
    }

    /// For how long it had wanted a core at the last tick, in nanoseconds.
    var delayAtTick: Int64?

    /// Whether it left a request unanswered for too long.
    var isUnresponsive: Bool { silence > SignalCapture.patience }

    /// Reads the name again; returns whether it changed.
    @discardableResult
    func refreshName() -> Bool {
        guard let newer = tracee.name(), newer != name else { return false }
        name = newer
        return true
    }

    /// The same at a tick, if a read is due.
    func watchName(at now: MonotonicTime, _ budget: inout NameBudget) -> Bool {
        guard names.isDue(at: now), budget.allowsRead(at: now) else { return false }
        names.noteRead(at: now)
        defer { if names.isOver { tracee.leaveName() } }
        return refreshName()
    }

    /// Whether the same stretch of being blocked goes on. It does if our own stop woke the thread
    /// and let it sleep on, and if the kernel restarts a call with the time that is left
    /// (restart_syscall).
    func hasResumedBlocking(at position: Position) -> Bool {
        defer { isRefined = false }
        guard let blocked else { return false }
        var before = blocked.position
        let isRestarted = position.systemCall == SystemCall.restart_syscall.rawValue
        if isRestarted { before.systemCall = position.systemCall }
        return (isRefined || isRestarted) && before == position
    }

    func nextBlocking(at position: Position, kind: WaitKind) -> Blocking {
        lastSerial &+= 1
        return Blocking(serial: lastSerial, position: position, kind: kind)
    }

    func addHold(_ span: TimeSpan) { clock.addHold(span) }

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
