/// What a thread does at a moment; see "The words" in `docs/design/ProfileModel.md`. The raw values
/// are stored.
package enum ThreadState: UInt8, Sendable, CaseIterable {
    case running = 1
    case runnable = 2
    case preempted = 3
    case blocked = 4
}

/// How detailed the scheduler's own account of the threads is. The raw values are stored.
package enum SchedulerAccount: String, Sendable, CaseIterable {
    /// When each thread had a core. A thread that is woken counts as blocked until it has one.
    case switches
    /// Also when each thread was woken, and by which thread.
    case wakeups
}

/// A span of one thread's life in one state, as the kernel's scheduler reported it: its borders are
/// exact.
package struct ScheduledRun: Hashable, Sendable {
    package var thread: ThreadIndex
    package var start: MonotonicTime
    package var end: MonotonicTime
    package var state: ThreadState
    /// The core on which it ran; nil if it did not run.
    package var core: Int32?

    package init(
        thread: ThreadIndex, start: MonotonicTime, end: MonotonicTime, state: ThreadState,
        core: Int32? = nil
    ) {
        self.thread = thread
        self.start = start
        self.end = end
        self.state = state
        self.core = core
    }
}

/// The end of a thread's wait and what ended it, as the kernel's scheduler reported it; or the
/// beginning of a new thread and its creator.
package struct Wakeup: Hashable, Sendable {
    package var thread: ThreadIndex
    /// The thread that was on the waking core. For a timer or a device, that is any thread that
    /// happened to run there, or 0 (idle).
    package var waker: Int32
    package var time: MonotonicTime
    /// Empty if the recording has the thread, or the name is unknown.
    package var wakerName: String
    /// nil: the waker is not a thread of the recording.
    package var wakerThread: ThreadIndex?
    /// True if it happened in an interrupt (a timer, a device): then no thread is the cause.
    package var isInterrupt: Bool

    package init(
        thread: ThreadIndex, time: MonotonicTime, waker: Int32, wakerName: String,
        wakerThread: ThreadIndex?, isInterrupt: Bool
    ) {
        self.thread = thread
        self.time = time
        self.waker = waker
        self.wakerName = wakerName
        self.wakerThread = wakerThread
        self.isInterrupt = isInterrupt
    }
}

/// A thread's scheduling policy and priority from a moment on.
package struct Priority: Hashable, Sendable {
    package var thread: ThreadIndex
    package var time: MonotonicTime
    /// sched(7)'s number: 0 SCHED_OTHER, 1 FIFO, 2 RR, 3 BATCH, 5 IDLE, 6 DEADLINE.
    package var policy: Int32
    /// -20 (most urgent) to 19; only for policies 0 and 3.
    package var nice: Int32
    /// 1 to 99 (most urgent); only for policies 1 and 2.
    package var realTime: Int32

    package init(
        thread: ThreadIndex, time: MonotonicTime, policy: Int32, nice: Int32, realTime: Int32
    ) {
        self.thread = thread
        self.time = time
        self.policy = policy
        self.nice = nice
        self.realTime = realTime
    }
}

extension StateTimes {
    package subscript(state: ThreadState) -> TimeSpan {
        get {
            switch state {
            case .running: running
            case .runnable: runnable
            case .preempted: preempted
            case .blocked: blocked
            }
        }
        set {
            switch state {
            case .running: running = newValue
            case .runnable: runnable = newValue
            case .preempted: preempted = newValue
            case .blocked: blocked = newValue
            }
        }
    }
}
