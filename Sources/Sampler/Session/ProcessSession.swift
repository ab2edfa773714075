import Agent
import ProcessIO
import ProfileModel

/// Follows one process from a moment on. It receives what ptrace reports of the process's threads,
/// looks at each of them at every tick, and passes on what it sees. Everything happens on one
/// thread, because ptrace belongs to the thread that began it. When that thread ends, the kernel
/// lets go of all that it traced, without another stop.
final class ProcessSession {
    let process: any ProcessAccess
    let options: SamplerOptions
    let sink: any SampleSink
    /// Whether its process ids are the same as ours. That never changes.
    private(set) lazy var sharesNamespace = process.sharesNamespaceWithUs
    var stage = Stage.launching(NextImage())
    var observer: ThreadObserver
    /// By id: every thread of the process that was seen and is not gone. For safety none may be
    /// left out, recorded or not: only who is listed is stopped before code is changed, and that
    /// is tried again as long as a thread is not (``knowsAllThreads``).
    var threads: [Int32: TracedThread] = [:]
    private var threadCount = 0
    var scheduler = ScheduleFollowing()
    var ledger: SessionLedger
    var cpuAvoidance = CPUAvoidance()
    var events = EventAvailability()
    var timers = EventAvailability()
    var endlessFiles: EndlessFiles
    /// Takes the stacks of its threads and of its children's; nil: each thread's stack is taken
    /// separately.
    var tree: TreeSamples?
    /// What is known of a process that events describe; nil: it is followed in another way.
    var told: EventFollowedProcess?
    /// Tells how an attached process has ended, if no tracer saw it; nil: the process was not attached to.
    var handle: ProcessHandle?
    /// Finds threads of other processes that this process's scheduler reports.
    var othersThread: ((Int32) -> TracedThread?)?
    /// How stacks are taken, as far as that is known: ``SamplerOptions/capture``.
    var capture: CaptureMethod
    var isOurChild = false
    /// The marks that the user asked for; nil: none.
    var marks: MarkPlacement?
    /// An event that has to wait: what was reported of an image's first thread on its way into the
    /// image, or an exec that was reported while we waited for a stop.
    var postponed: TraceEvent?
    /// Whether we wait for a stop. Nothing else is begun meanwhile.
    var isAwaitingStop = false
    /// The threads whose stops we wait for next.
    var awaited: Set<Int32> = []
    /// How many more looks at all threads' children must come before a thread is stopped.
    var looksForChildren = 0
    /// Serves the other processes while this one waits for its threads.
    var whileWaiting: (() -> Void)?
    /// Tells others of the program's signposts: of an event, or of an interval's end.
    var sawSignpost: ((_ label: SignpostLabel, _ time: MonotonicTime) -> Void)?

    init(
        _ process: any ProcessAccess, options: SamplerOptions, sink: any SampleSink,
        machine: MachineLoad? = nil
    ) {
        self.process = process
        self.options = options
        self.sink = sink
        ledger = SessionLedger(machine: machine)
        capture = options.capture
        endlessFiles = EndlessFiles(pid: process.pid)
        observer = ThreadObserver(process, stackBytes: options.stackBytes, sink: sink)
        marks = options.marks.map { MarkPlacement($0, tell: options.tellMarkProblem) }
    }

    var pid: Int32 { process.pid }

    // MARK: The running image

    /// Our code in it; nil: not there.
    var instrumentation: Instrumentation? { stage.image?.instrumentation }
    var area: AgentMemory? { instrumentation?.area }
    /// Takes stacks by signal, where that is possible. Most threads are not traced then.
    var signalCapture: SignalCapture? { instrumentation?.signals }
    var libraries: LibraryList? { stage.image?.libraries }
    var programPath: String { stage.image?.path ?? "" }

    var outcome: Recording.Outcome? { stage.outcome }

    /// Whether somebody wants the recorder to end at once while we take back what we did. Then we
    /// wait for nobody any longer.
    var isCalledOff: Bool { isLeaving && process.isToEnd }

    /// Whether everything has been reported, and what we did is being taken back.
    var isLeaving: Bool {
        guard case .leaving = stage else { return false }
        return true
    }

    // MARK: Ticks

    /// Looks at each thread that is due. ``ProcessGroup/run(_:_:)`` calls it.
    ///
    /// - Parameter missed: how many ticks were missed before this one.
    func tick(at now: MonotonicTime, missed: Int32) {
        ledger.tick(missed: missed)
        guard outcome == nil else { return }
        watchTimers()
        lookForChildren()
        if let execution = stage.execution {
            // Whether this is the old program or the new one already shows only at its report.
            guard now > execution.deadline || area?.isExecuting == false else { return }
            abandonExecution()
        }
        observer.watchMappings(at: now, libraries: instrumentation?.loadedLibraries)
        takeToldCode(upTo: newsLimit)
        reportLibrariesSeen(at: now)
        followUntraced(at: now)
        callOffLateStops(at: now)
        if let image = stage.image { _ = giveUpEntry(of: image) }
        // Where it had no core at first.
        if let image = stage.image, area?.isSettled == true { emptyCave(of: image) }
        completeEntry(at: now)
        reportHooks(at: now)
        placeMarks()
        for thread in threads.values where thread.phase == .free && isDue(thread, at: now) {
            guard let counters = thread.counters() else {
                forget(thread, at: now)
                continue
            }
            leaveCore(of: thread, counters, at: now)
            observer.watchName(of: thread, at: now)
            takeAnswer(of: thread, counters)
            takeSamples(of: thread, counters, upTo: newsLimit)
            if thread.phase != .free || followRequest(of: thread, counters) { continue }
            observer.watchPriority(of: thread, counters, at: now)
            switch observer.look(at: thread, counters, at: now) {
            case .running: captureRunning(thread, counters, at: now)
            case .blocked:
                calibrate(thread)
                detachBlocked(thread)
            case .moving: break
            case .gone: forget(thread, at: now)
            }
        }
        for refinement in sink.takeRefinements() { refine(refinement) }
        reportSchedule()
    }

    /// Whether to look at a thread at this tick. Where there are very many threads, those that have
    /// slept for long take turns. Otherwise looking at them would take more of a core than the
    /// scheduler grants us, and all threads would be seen less.
    private func isDue(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        let turns = threads.count / Self.sleepersPerTick
        guard turns > 1, thread.blocked != nil, now - thread.clock.time > Self.longSleep else {
            return true
        }
        return (Int(ledger.ticks) &+ thread.index.rawValue) % turns == 0
    }

    private static let sleepersPerTick = 64
    private static let longSleep = TimeSpan.milliseconds(20)

    // MARK: Threads

    /// A thread that ptrace reported along with its parent. nil if it belongs to another process (a
    /// clone that shares no thread group). Then it is let go, unless children are followed.
    func adopt(_ tid: Int32, at now: MonotonicTime) -> TracedThread? {
        forgetLeft()
        if let known = threads[tid] { return known }
        let thread = process.thread(tid)
        guard process.isThread(tid) else {
            if !tracesChildren { try? thread.detach() }
            return nil
        }
        return addThread(thread, start: now, isNew: true)
    }

    @discardableResult
    func addThread(
        _ access: any ThreadAccess, start: MonotonicTime, isNew: Bool, isTraced: Bool = true
    ) -> TracedThread {
        let thread = TracedThread(
            access, index: ThreadIndex(threadCount), start: start, isNew: isNew,
            isTraced: isTraced)
        add(thread, start: start)
        return thread
    }

    func add(_ thread: TracedThread, start: MonotonicTime) {
        threadCount += 1
        threads[thread.tid] = thread
        if let tree { sample(thread, by: tree) }
        scheduler.follow(thread.tid)
        sink.receive(
            .threadStarted(
                RecordedThread(
                    tid: thread.tid, name: thread.name, start: start, isMain: thread.tid == pid)))
    }

    func rename(_ thread: TracedThread) {
        if thread.refreshName() { sink.receive(.threadNamed(thread.index, thread.name)) }
    }

    func end(_ thread: TracedThread, at now: MonotonicTime) {
        guard thread.phase != .exited else { return }
        thread.exit()
        thread.timing.end()
        guard !isClosed else { return }
        observer.closeWait(of: thread)
        observer.interpreters.forget(thread.tid)
        ledger.ended(thread)
        sink.receive(.threadEnded(thread.index, thread.clock.time))
    }

    func ended(_ tid: Int32, _ how: Recording.Outcome, at now: MonotonicTime) {
        if tid == pid {
            reportHooks(at: now, isLast: true)
        } else {
            reportSignposts(at: now, isLast: false)
        }
        if let thread = threads.removeValue(forKey: tid), thread.phase != .exited, !isClosed {
            // Killed without an exit event, or not traced: where it was is gone with it.
            if thread.tracing.isTraced { observer.closeWithoutStack(thread, at: now) }
            end(thread, at: now)
            signalCapture?.forget(thread)
        }
        if tid == pid {
            closeAll(at: now)
            stage.end(how)
        }
    }

    /// Whether a signal has stopped the program. A traced thread's state does not tell: it looks
    /// the same while the thread waits for us, maybe with that very signal. What ptrace reported
    /// does.
    var isProgramStopped: Bool {
        threads.values.contains { thread in
            switch thread.state {
            case UInt8(ascii: "T"): true
            case UInt8(ascii: "t"): thread.tracing.isTraced && thread.tracing.isInGroupStop
            default: false
            }
        }
    }

    // MARK: Endings

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

    /// Takes no more looks; the process goes on.
    func abandon() {
        guard outcome == nil else { return }
        closeAll(at: process.now)
        stage.leave()
        callOffStops(by: process.now + Self.stopPatience)
        stage.end(.running)
    }

    /// Ends the recording: the process is let go as soon as that does no harm.
    func leave() {
        noteMissedEntry()
        guard stage.leave() else { return }
        closeAll(at: process.now)
        takeFinalCPU()
        let deadline = process.now + Self.removalPatience
        awaitEntry(by: deadline)
        removeMarks()
        removeArea(by: deadline)
        // Another program may have begun meanwhile, with our code in it.
        takePostponed()
        removeArea(by: deadline)
        removeForsaken(by: deadline)
        callOffStops(by: deadline)
        // It may have ended while that was taken back: then that counts.
        stage.end(.running)
    }

    /// How long we wait to take our code back: a program that is short of cores gets one sooner or
    /// later.
    private static let removalPatience = TimeSpan.milliseconds(10_000)

    /// Whether everything has been reported. That happens once, because the process may end while
    /// our code is taken back.
    private(set) var isClosed = false

    func closeAll(at now: MonotonicTime) {
        guard !isClosed else { return }
        isClosed = true
        observer.end = now
        reportHooks(at: now, isLast: true)
        reportSchedule(isLast: true)
        for thread in threads.values where thread.phase != .exited {
            // Nothing is known any more of what a thread did that ended unseen.
            let isReadable = thread.blocked != nil || thread.counters() != nil
            takeLastSamples(of: thread)
            if isReadable { observer.close(thread, at: now) }
            rename(thread)
            ledger.ended(thread)
            sink.receive(.threadEnded(thread.index, isReadable ? now : thread.clock.time))
        }
        endTimers()
        sink.receive(
            .border(
                LaunchBorder(
                    kind: .ended, time: min(now, scheduler.exitTime ?? now),
                    counters: ledger.finalCounters ?? process.counters())))
    }

    /// To be called while the process's figures can still be read: its CPU time, and whether it started
    /// processes that were not recorded.
    func takeFinalCPU() {
        ledger.ended(process.cpu)
        guard isOurChild, !options.followsChildren else { return }
        let faults = process.childrenFaults
        if faults > 0 { ledger.note(.unrecordedChildren, faults) }
    }

    // MARK: Notes

    func note(_ kind: RecorderNote.Kind) { ledger.note(kind) }

    /// What is known of the recording when it is over.
    func result() -> SamplerOutcome {
        SamplerOutcome(
            outcome: outcome ?? .unknown, ticks: ledger.ticks, missedTicks: ledger.missedTicks,
            lateness: .zero, heldByProfiler: observer.heldByProfiler,
            capture: tree == nil ? capture : .event,
            cpu: ledger.observedCPU, account: scheduler.account,
            notes: ledger.finalNotes(lostWaits: observer.waits.lost),
            markProblems: marks?.problems ?? [])
    }
}

extension ProcessAccess {
    var cpu: SessionLedger.ProcessCPU {
        SessionLedger.ProcessCPU(own: cpuTime, children: childrenCPU)
    }
}
