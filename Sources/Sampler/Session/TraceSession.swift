import CAgent
import CSystem
import Glibc
import ProfileModel

/// Follows one process from a moment on: receives what ptrace reports of its threads, looks at
/// each of them at every tick, and passes on what it sees. Everything happens on one thread,
/// because ptrace belongs to the thread that began it; when that thread ends, the kernel lets go
/// of all that it traced, without stopping it once more.
final class TraceSession {
    let pid: Int32
    let options: SamplerOptions
    let sink: any SampleSink
    let files: ProcessFiles
    /// Whether its ids are ours, which never changes.
    let sharesNamespace: Bool
    var observer: ThreadObserver
    var threads: [Int32: TracedThread] = [:]
    /// Those that ended untraced, until the scheduler has told how.
    var leaving: [TracedThread] = []
    private var threadCount = 0
    private var rounds = 0
    var maskWatch = MaskWatch()
    /// Whether our code is to be brought into a program that runs already.
    enum Plan: Equatable {
        case never
        /// At the next stop of a thread from this time on.
        case due(MonotonicTime)
        /// It was begun, or found impossible.
        case over
    }
    var plan = Plan.never
    /// How often it was tried.
    var attempts = 0
    /// Set when stacks are taken by signal; most threads are not traced then.
    var signalCapture: SignalCapture?
    /// Whether the kernel may be asked to sample threads, as far as that is known.
    var mayUseEvents = true
    var untraced: UntracedProcess?
    /// Our code in the program, and the memory that we share with it.
    var area: Area?
    /// That of the image which is about to begin.
    var nextArea: InheritedArea?
    /// The same of an image that is about to begin, where it need not be asked: our own child has our
    /// filters, and its limits were looked at.
    var knownAction: UInt64?
    /// Where a piece of our code stands for a moment, and what was there.
    var cave: (address: UInt64, before: [UInt8])?
    /// What the sampling signal did before; 1: it was ignored.
    var originalAction: UInt64 = 0
    /// The linker's hook that leads to our code, and the word that was there.
    var linkerHook: (address: UInt64, word: UInt64)?
    /// The running image's linker, if it tells.
    var linkerOfImage: DynamicLinker?
    /// Whether our code notes when `main` begins, and which borders were told.
    var notesMain = false
    var toldBorders: Set<LaunchBorder> = []
    var hasToldGate = false
    /// Whether what the start-up loaded was taken care of there.
    var hasServedGate = false
    /// All threads are traced for a moment, because one of them will execute another program.
    var isFollowingExecution = false
    var executionDeadline = MonotonicTime(nanoseconds: 0)
    /// How stacks are taken after `main`, as far as that is known.
    var capture: CaptureMethod
    var notes: [RecorderNote.Kind: Int64] = [:]
    private(set) var isOurChild = false
    /// The process's CPU time before the recording, and at its end once that is over.
    private var initialCPU = TimeSpan.zero
    private(set) var finalCPU: TimeSpan?
    /// The same of the children that it waited for.
    private var initialChildrenCPU = TimeSpan.zero
    private var finalChildrenCPU: TimeSpan?
    /// What else the machine did; nil: somebody else says so.
    private let machine: MachineWatch?
    /// What the slices of threads that ended account for.
    private var observedCPU = TimeSpan.zero
    /// An exec was noticed after the fact: the next stop of the first thread is in the new image.
    var hasMissedExec = false
    /// When the running image began.
    var imageStart = MonotonicTime(nanoseconds: 0)
    /// Our code around the program's initialisers, where it is.
    var hooks: Hooks?
    /// nil: the program is static, or its linker does not tell.
    var libraries: LibraryList?
    var programPath = ""
    /// Who else wants to know of the program's signposts: an event's, or an interval's end.
    var sawSignpost: ((_ label: SignpostLabel, _ time: MonotonicTime) -> Void)?
    /// What the user wants to be noted; nil: nothing.
    var marks: MarkPlacement?
    /// nil: the scheduler does not tell us.
    var schedule: Schedule?
    /// How much it told.
    var account: SchedulerAccount?
    var outcome: Recording.Outcome?
    private var ticks: Int64 = 0
    private var missedTicks: Int64 = 0

    init(
        pid: Int32, options: SamplerOptions, sink: any SampleSink, machine: MachineWatch? = nil
    ) {
        self.pid = pid
        self.machine = machine
        self.options = options
        self.sink = sink
        // Forks are only reported to a tracer.
        capture = options.followsChildren ? .ptrace : options.capture
        files = ProcessFiles(pid: pid)
        sharesNamespace = files.sharesNamespaceWithUs
        observer = ThreadObserver(pid: pid, stackBytes: options.stackBytes, sink: sink)
        marks = options.marks.map { MarkPlacement($0, tell: options.tellMarkProblem) }
    }

    // MARK: Beginnings

    /// A new process, stopped at its first instruction.
    func beginLaunch(_ process: StartedProcess) {
        isOurChild = true
        nextArea = process.area
        if process.area != nil { knownAction = process.ignoresSampleSignal ? 1 : 0 }
        initialCPU = TimeSpan(nanoseconds: process.main.clock.counters.run)
        schedule = process.schedule
        let spawned = process.main.clock.time
        sink.receive(.mark(Mark(kind: .spawned, time: spawned)))
        add(process.main, start: spawned)
        beginImage(at: process.firstInstruction)
    }

    /// A running process. Its threads are traced one by one when they must be stopped; without
    /// capture by signal all of them at once, and those that they start meanwhile.
    ///
    /// - Parameter permitted: called as soon as it is known that the process may be observed.
    func beginAttached(permitted: () -> Void) throws(SystemError) {
        if capture != .signal {
            try Tracee(tid: pid).seize(followingChildren: options.followsChildren)
        } else {
            // The kernel asks for the same permission.
            try check(ProcFile.canOpen("/proc/\(pid)/mem"), "reading process \(pid)'s memory")
            plan = .due(.now)
        }
        permitted()
        if options.asksScheduler { schedule = Schedule(pid: pid, threads: files.threadIDs()) }
        let now = MonotonicTime.now
        initialCPU = files.cpuTime ?? .zero
        initialChildrenCPU = files.childrenCPU ?? .zero
        imageStart = now
        sink.receive(.image(files.image(at: now)))
        sink.receive(.mark(Mark(kind: .attached, time: now, counters: files.counters())))
        observer.rereadMappings(at: now)
        listLibrariesOfAttached()
        addThread(pid, start: now, isNew: false).isTraced = plan == .never
        if plan != .never {
            untraced = UntracedProcess(pid: pid, probe: AuxiliaryVector(pid: pid).programHeaders)
        }
        var hasNews = true
        while hasNews {
            hasNews = false
            for tid in files.threadIDs() where threads[tid] == nil {
                // A thread that is gone already, or that its parent's tracing brought along.
                if plan == .never {
                    try? Tracee(tid: tid).seize(followingChildren: options.followsChildren)
                }
                addThread(tid, start: now, isNew: false).isTraced = plan == .never
                hasNews = true
            }
        }
    }

    /// A new image in the process, whose first thread is stopped at its first instruction.
    ///
    /// - Parameter isLate: it was noticed after the fact, and is further than that.
    func beginImage(at now: MonotonicTime, isLate: Bool = false) {
        guard let main = threads[pid] else { return }
        imageStart = now
        libraries = nil
        leaveImage()
        main.isTraced = true
        if !options.followsChildren { capture = options.capture }
        // Another thread may have executed the program, and has the first one's id now.
        schedule?.follow(pid)
        var counters = main.counters()
        let status = main.status()
        let began = isLate ? now : enter(main, at: now)
        // What it did before is no reason to think that it waits often.
        main.burst = BurstWatch()
        if let status { main.burst.sawStop(voluntary: status.voluntary) }
        // That clock is exact; the kernel's counters tell only of what has left its core.
        if began != now, let area, let known = counters?.run {
            let most = known.addingReportingOverflow((began - now).nanoseconds).partialValue
            counters?.run = min(max(area[\.settled_cpu_ns], known), max(known, most))
        }
        observer.restart()
        observer.closeWithoutStack(main, at: began, counters: counters)
        noteHold(from: now, to: began)
        let image = files.image(at: began)
        programPath = image.path
        sink.receive(.image(image))
        mark(.firstInstruction, at: began)
        observer.rereadMappings(at: began)
        // Where the launch cannot be watched, all of it counts as the program's own.
        if area == nil || (!notesMain && linkerHook == nil) { mark(.main, at: began) }
        rename(main)
        awaitLibraries()
        guard isLate else { return }
        if capture == .signal { plan = .due(now) }
        resume(main, stoppedSince: now)
    }

    /// A process that was forked off an observed one: until an exec it runs the same program.
    func beginForked(at now: MonotonicTime) {
        if options.asksScheduler {
            schedule = Schedule(pid: pid, threads: [pid], isChild: true)
        }
        sink.receive(.began(pid: pid))
        sink.receive(.image(files.image(at: now)))
        for kind in [Mark.Kind.spawned, .firstInstruction, .main] {
            sink.receive(.mark(Mark(kind: kind, time: now)))
        }
        addThread(pid, start: now, isNew: true)
        observer.rereadMappings(at: now)
    }

    // MARK: Ticks

    /// - Parameter missed: how many ticks nobody could serve before this one.
    func tick(at now: MonotonicTime, missed: Int32) {
        ticks += 1
        missedTicks += Int64(max(0, missed))
        guard outcome == nil else { return }
        if isFollowingExecution {
            // Whether this is the old program or the new one already shows only at its report.
            guard now > executionDeadline else { return }
            abandonExecution()
        }
        if observer.watchMappings(at: now, libraries: loadedLibraries) {
            reportLibrariesSeen(at: now)
        }
        followUntraced(at: now)
        reportHooks(at: now)
        placeMarks()
        rounds &+= 1
        for thread in threads.values where thread.phase == .free && isDue(thread, at: now) {
            guard let counters = thread.counters() else {
                forget(thread, at: now)
                continue
            }
            observer.watchName(of: thread, at: now)
            takeAnswer(of: thread, counters)
            takeSamples(of: thread, counters)
            if thread.phase != .free || isOnItsWay(thread, counters) { continue }
            observer.watchPriority(of: thread, counters, at: now)
            switch observer.look(at: thread, counters, at: now) {
            case .running: captureRunning(thread, counters, at: now)
            case .blocked: calibrate(thread)
            case .moving: break
            case .gone: forget(thread, at: now)
            }
        }
        for request in sink.takeRequests() { answer(request) }
        reportSchedule()
    }

    /// Where very many threads are, those that have slept for long take turns: else looking at
    /// them would take more of a core than the scheduler grants us, and all would be seen less.
    private func isDue(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        let turns = threads.count / Self.sleepersPerTick
        guard turns > 1, thread.blocked != nil, now - thread.clock.time > Self.longSleep else {
            return true
        }
        return (rounds &+ thread.index.rawValue) % turns == 0
    }

    private static let sleepersPerTick = 64
    private static let longSleep = TimeSpan.milliseconds(20)

    // MARK: Threads

    var finalCounters: ProcessCounters?
    /// When the first thread ended, if the scheduler told; what comes later is the kernel's taking
    /// apart of what it had.
    var exitTime: MonotonicTime?

    /// A thread that ptrace brought along with its parent. nil for one of another process (a
    /// clone that shares no thread group): it is let go.
    func adopt(_ tid: Int32, at now: MonotonicTime) -> TracedThread? {
        if let known = threads[tid] { return known }
        guard access("/proc/\(pid)/task/\(tid)", F_OK) == 0 else {
            try? Tracee(tid: tid).detach()
            return nil
        }
        return addThread(tid, start: now, isNew: true)
    }

    @discardableResult
    func addThread(_ tid: Int32, start: MonotonicTime, isNew: Bool) -> TracedThread {
        let thread = TracedThread(
            process: pid, tid: tid, index: ThreadIndex(threadCount), start: start, isNew: isNew)
        add(thread, start: start)
        return thread
    }

    private func add(_ thread: TracedThread, start: MonotonicTime) {
        threadCount += 1
        threads[thread.tid] = thread
        schedule?.follow(thread.tid)
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
        observer.closeWait(of: thread)
        thread.phase = .exited
        observedCPU = observedCPU + thread.observedCPU
        sink.receive(.threadEnded(thread.index, thread.clock.time))
    }

    func ended(_ tid: Int32, _ how: Recording.Outcome, at now: MonotonicTime) {
        if tid == pid { reportHooks(at: now, isLast: true) }
        if let thread = threads.removeValue(forKey: tid), thread.phase != .exited {
            // Killed without an exit event, or not traced: where it was is gone with it.
            if thread.isTraced { observer.closeWithoutStack(thread, at: now) }
            end(thread, at: now)
        }
        if tid == pid {
            closeAll(at: now)
            outcome = how
        }
    }

    // MARK: Endings

    func mark(_ kind: Mark.Kind, at time: MonotonicTime) {
        sink.receive(.mark(Mark(kind: kind, time: time, counters: files.counters())))
    }

    /// The recorder kept every thread from running.
    func noteHold(from start: MonotonicTime, to end: MonotonicTime) {
        guard start < end else { return }
        sink.receive(.mark(Mark(kind: .held, time: start)))
        sink.receive(.mark(Mark(kind: .released, time: end)))
    }

    /// Takes no more looks; the process goes on.
    func abandon() {
        guard outcome == nil else { return }
        closeAll(at: .now)
        outcome = .running
    }

    /// Ends the recording: the process is let go as soon as that does no harm.
    func leave() {
        guard outcome == nil else { return }
        closeAll(at: .now)
        takeFinalCPU()
        removeMarks()
        removeArea()
        // It may have ended while that was taken back.
        if outcome == nil { outcome = .running }
    }

    func closeAll(at now: MonotonicTime) {
        reportHooks(at: now, isLast: true)
        reportSchedule(isLast: true)
        for thread in threads.values where thread.phase != .exited {
            // Nothing is known any more of what a thread did that ended unseen.
            let isReadable = thread.blocked != nil || thread.counters() != nil
            if isReadable { observer.close(thread, at: now) }
            rename(thread)
            observedCPU = observedCPU + thread.observedCPU
            sink.receive(.threadEnded(thread.index, isReadable ? now : thread.clock.time))
        }
        sink.receive(
            .mark(
                Mark(
                    kind: .ended, time: min(now, exitTime ?? now),
                    counters: finalCounters ?? files.counters())))
    }

    /// While it can still be read.
    func takeFinalCPU() {
        finalCPU = files.cpuTime
        finalChildrenCPU = files.childrenCPU
    }

    // MARK: Notes

    func note(_ kind: RecorderNote.Kind) { notes[kind, default: 0] += 1 }

    /// What is known of the recording when it is over.
    func result() -> SamplerOutcome {
        SamplerOutcome(
            outcome: outcome ?? .unknown, ticks: ticks, missedTicks: missedTicks,
            lateness: .zero, heldByProfiler: observer.heldByProfiler, capture: capture,
            cpu: observedCPU, account: account, notes: finalNotes(),
            markProblems: marks?.problems ?? [])
    }

    private func finalNotes() -> [RecorderNote] {
        if let finalCPU {
            let unseen = finalCPU - initialCPU - observedCPU
            if unseen > .zero { notes[.unseenCPU] = unseen.nanoseconds }
        }
        if observer.waits.lost > 0 { notes[.lostWaits] = observer.waits.lost }
        noteMachine()
        return RecorderNote.Kind.allCases.compactMap { kind in
            notes[kind].map { RecorderNote(kind, $0) }
        }
    }

    /// Without the program's last figures, what it did would look like others' work.
    private func noteMachine() {
        guard let machine, let finalCPU, let finalChildrenCPU else { return }
        let program = finalCPU - initialCPU + (finalChildrenCPU - initialChildrenCPU)
        notes.merge(machine.notes(program: program)) { $1 }
    }
}
