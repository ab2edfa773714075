import Agent
import ProcessIO
import ProfileModel

/// The state that the parts of a session (``SessionPart``) share: the process, the progress of its
/// recording, and facts about it. Only the thread that traces uses it.
final class SessionContext {
    let process: any ProcessAccess
    let options: SamplerOptions
    let sink: any SampleSink
    /// Whether its process ids are the same as ours. That never changes.
    private(set) lazy var sharesNamespace = process.sharesNamespaceWithUs
    var stage = Stage.launching(NextImage())
    var observer: ThreadObserver
    var threads = ThreadTable()
    var scheduler = ScheduleFollowing()
    var ledger: SessionLedger
    var cpuAvoidance = CPUAvoidance()
    var events = EventAvailability()
    var timers = EventAvailability()
    var endlessFiles: EndlessFiles
    /// Takes the stacks of its threads and of its children's; nil: each thread's stack is taken
    /// separately.
    var tree: TreeSamples?
    /// The state of a process that events describe; nil: it is followed in another way.
    var eventFollowed: EventFollowedProcess?
    /// Tells how an attached process has ended, if no tracer saw it; nil: the process was not attached to.
    var handle: ProcessHandle?
    /// Finds threads of other processes that this process's scheduler reports.
    var othersThread: ((Int32) -> TracedThread?)?
    /// How stacks are taken, as far as that is known: ``SamplerOptions/capture``.
    var capture: CaptureMethod
    var isOurChild = false
    /// The marks that the user asked for; nil: none.
    var marks: MarkPlacement?
    /// An event that has to wait: a report on an image's first thread on its way into the image, or
    /// an exec that was reported while we waited for a stop.
    var postponed: TraceEvent?
    /// Whether we wait for a stop. Nothing else is begun meanwhile.
    var isAwaitingStop = false
    /// The threads whose stops we wait for next.
    var awaited: Set<Int32> = []
    /// How many more looks at all threads' children must come before a thread is stopped.
    var looksForChildren = 0
    /// Whether everything has been reported. That happens once, because the process may end while
    /// our code is removed.
    private(set) var isClosed = false
    /// Serves the other processes while this one waits for its threads.
    var whileWaiting: (() -> Void)?
    /// Reports the program's signposts to others: an event, or an interval's end.
    var sawSignpost: ((_ label: SignpostLabel, _ time: MonotonicTime) -> Void)?
    /// Takes ptrace's reports where a part comes upon one, as most parts do while they wait.
    weak var receiver: (any TraceReceiver)?

    init(
        _ process: any ProcessAccess, options: SamplerOptions, sink: any SampleSink,
        machine: MachineLoad?
    ) {
        self.process = process
        self.options = options
        self.sink = sink
        ledger = SessionLedger(machine: machine)
        capture = options.capture
        endlessFiles = EndlessFiles(of: process)
        observer = ThreadObserver(process, options: options, sink: sink)
        marks = options.marks.map { MarkPlacement($0, tell: options.tellMarkProblem) }
    }

    /// - Returns: false: everything has been reported before.
    func close() -> Bool {
        defer { isClosed = true }
        return !isClosed
    }

    // MARK: The running image

    /// Our code in it; nil: not there.
    var instrumentation: Instrumentation? { stage.image?.instrumentation }
    var area: AgentMemory? { instrumentation?.area }
    /// Takes stacks by signal, where that is possible. Most threads are not traced then.
    var signalCapture: SignalCapture? { instrumentation?.signals }
    var libraries: LibraryList? { stage.image?.libraries }
    var programPath: String { stage.image?.path ?? "" }
    /// Whether a handler of the program's may hold our signal back until it returns. Then it is
    /// unknown whether the handler or our signal has ended a call, and the call is not made again.
    var handlersBlock: Bool { area?.handlersBlock == true }

    /// Nothing would report filters for system calls to us any more: no further marks are noted.
    func abandonMarks() {
        marks?.isOver = true
        area?.stopMarks()
    }

    // MARK: How it is followed

    /// Whether it is followed from outside.
    var isUntraced: Bool { stage.image?.untraced != nil }

    /// From now on its threads are not traced, or not for long.
    func followFromOutside(_ image: RunningImage) {
        image.untraced = ProcPoller(process.runningProgram())
    }

    /// Whether threads are traced only for a stop, because stacks are taken by signal, or will be.
    var isFree: Bool {
        stage.execution == nil && (signalCapture != nil || capture == .untraced && isUntraced)
    }

    /// Whether a thread was seized for an exec that failed. No other process can debug a traced
    /// thread, and the thread stops at each of its signals.
    func isTracedForNothing(_ thread: TracedThread) -> Bool {
        isFree && thread.tracing.isTraced && isUntraced
    }

    /// Whether events of the process's tree show what a thread does. For an interpreter's functions
    /// they come too late.
    func isSampledByTree(_ thread: TracedThread) -> Bool {
        tree != nil && thread.samples != nil && thread.timing.timer == nil
    }

    /// Whether the processes that it forks are traced. They are where no events describe them.
    var tracesChildren: Bool { options.followsChildren && tree?.news == nil }

    /// How an image's stacks are taken, unless something prevents that.
    var firstCapture: CaptureMethod { tracesChildren ? .ptrace : options.capture }

    /// The time up to which news was read. Later events may belong to another program. nil: there
    /// is no news.
    var newsLimit: MonotonicTime? {
        eventFollowed == nil ? nil : tree?.news?.limit
    }

    // MARK: How far it is

    var outcome: Recording.Outcome? { stage.outcome }

    /// Whether the recorder was asked to end at once while we undo our changes. Then we wait for no
    /// thread any longer.
    var isCalledOff: Bool { isLeaving && process.isToEnd }

    /// Whether everything has been reported, and our changes are being undone.
    var isLeaving: Bool {
        guard case .leaving = stage else { return false }
        return true
    }

    /// Whether a signal has stopped the program. The state of a traced thread does not show that:
    /// it looks the same while the thread waits for us, maybe with that very signal. ptrace's
    /// reports show it.
    var isProgramStopped: Bool {
        threads.values.contains { thread in
            switch thread.state {
            case UInt8(ascii: "T"): true
            case UInt8(ascii: "t"): thread.tracing.isTraced && thread.tracing.isInGroupStop
            default: false
            }
        }
    }

    // MARK: Waiting

    /// Waits for something that is usually true already.
    ///
    /// - Parameter interval: how long to pause between two looks, in microseconds.
    /// - Returns: whether it became true.
    @discardableResult
    func wait(atMost limit: TimeSpan, every interval: Int = 200, until isSo: () -> Bool) -> Bool {
        let deadline = process.now + limit
        while !isSo() {
            // We may have had no core since we looked.
            guard process.now < deadline else { return isSo() }
            pause(microseconds: interval)
        }
        return true
    }

    func pause(microseconds: Int) {
        whileWaiting?()
        process.pause(microseconds: microseconds)
    }

    // MARK: Reports

    func report(_ kinds: LaunchBorder.Kind..., at time: MonotonicTime) {
        let counters = process.counters()
        for kind in kinds {
            sink.receive(.border(LaunchBorder(kind: kind, time: time, counters: counters)))
        }
    }

    /// The recorder kept every thread from running.
    func noteHold(from start: MonotonicTime, to end: MonotonicTime) {
        guard start < end, !isClosed else { return }
        sink.receive(.border(LaunchBorder(kind: .held, time: start)))
        sink.receive(.border(LaunchBorder(kind: .released, time: end)))
    }

    func note(_ kind: RecorderNote.Kind) { ledger.note(kind) }

    /// No thread could be had for the removal. This does not matter if none is left.
    func noteLeftBehind() {
        if process.isZombie == false { note(.leftBehind) }
    }
}
