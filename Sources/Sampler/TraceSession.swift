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
    var observer: ThreadObserver
    var threads: [Int32: TracedThread] = [:]
    private var threadCount = 0
    private var rounds = 0
    private var lastMasks: UInt32 = 0
    private var looksAtMasks = 0
    /// Whether stacks will be taken by signal.
    enum Plan: Equatable {
        case never
        /// When the launch's borders are passed.
        case afterMain
        /// At the next stop of a thread from this time on.
        case due(MonotonicTime)
        /// It was begun, or found impossible.
        case over
    }
    var plan: Plan
    /// How often it was tried.
    var setups = 0
    /// Set when stacks are taken by signal; most threads are not traced then.
    var signalCapture: SignalCapture?
    var untraced: UntracedProcess?
    var installed: Installed?
    /// Our code in the program, where it was needed.
    var agent: Agent?
    /// All threads are traced for a moment, because one of them will execute another program.
    var isFollowingExecution = false
    private var executionDeadline = MonotonicTime(nanoseconds: 0)
    /// How stacks are taken after `main`, as far as that is known.
    var capture: CaptureMethod
    private var notes: [RecorderNote.Kind: Int64] = [:]
    private(set) var isOurChild = false
    /// The process's CPU time before the recording, and at its end once that is over.
    private var initialCPU = TimeSpan.zero
    var finalCPU: TimeSpan?
    /// What the slices of threads that ended account for.
    private var observedCPU = TimeSpan.zero
    /// An exec was noticed after the fact: the next stop of the first thread is in the new image.
    var hasMissedExec = false
    var watch: LaunchWatch?
    var outcome: Recording.Outcome?
    private var ticks: Int64 = 0
    private var missedTicks: Int64 = 0
    /// Sampling is over, but the launch's breakpoints are still in place: they go at `main`.
    var isLeaving = false

    init(pid: Int32, options: SamplerOptions, sink: any SampleSink) {
        self.pid = pid
        self.options = options
        self.sink = sink
        // Forks are only reported to a tracer.
        capture = options.followsChildren ? .ptrace : options.capture
        plan = capture == .signal ? .afterMain : .never
        files = ProcessFiles(pid: pid)
        observer = ThreadObserver(pid: pid, stackBytes: options.stackBytes, sink: sink)
    }

    // MARK: Beginnings

    /// A new process, stopped at its first instruction.
    func beginLaunch(_ process: StartedProcess) {
        isOurChild = true
        initialCPU = TimeSpan(nanoseconds: process.main.clock.counters.run)
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
        if plan == .never {
            try Tracee(tid: pid).seize(followingChildren: options.followsChildren)
        } else {
            // The kernel asks for the same permission.
            try check(ProcFile.canOpen("/proc/\(pid)/mem"), "reading process \(pid)'s memory")
            plan = .due(.now)
        }
        permitted()
        let now = MonotonicTime.now
        initialCPU = files.cpuTime ?? .zero
        sink.receive(.image(files.image(at: now)))
        sink.receive(.mark(Mark(kind: .attached, time: now, counters: files.counters())))
        observer.rereadMappings(at: now)
        addThread(pid, start: now, isNew: false).isTraced = plan == .never
        if plan != .never {
            untraced = UntracedProcess(pid: pid, probe: AuxiliaryVector(pid: pid).vdso)
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
        observer.closeWithoutStack(main, at: now)
        sink.receive(.image(files.image(at: now)))
        sink.receive(.mark(Mark(kind: .firstInstruction, time: now, counters: files.counters())))
        observer.restart()
        observer.rereadMappings(at: now)
        leaveImage()
        watch = nil
        main.isTraced = true
        if plan != .never { (plan, capture) = (.afterMain, .signal) }
        if let start = try? main.tracee.resumeAddress() {
            watch = LaunchWatch(pid: pid, firstInstruction: start, isLate: isLate)
            agent = watch?.agent
            observer.agent = agent?.range
        }
        // Where the launch cannot be watched, all of it counts as the program's own.
        if watch == nil {
            mark(.main, at: now)
            if plan != .never { plan = .due(now) }
        }
        rename(main)
        resume(main, stoppedSince: now)
    }

    /// A process that was forked off an observed one: until an exec it runs the same program.
    func beginForked(at now: MonotonicTime) {
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
        guard !isLeaving, outcome == nil else { return }
        if isFollowingExecution {
            // Whether this is the old program or the new one already shows only at its report.
            guard now > executionDeadline else { return }
            abandonExecution()
        }
        observer.watchMappings(at: now)
        followUntraced(at: now)
        rounds &+= 1
        for thread in threads.values where thread.phase == .free && isDue(thread, at: now) {
            guard let counters = thread.counters() else {
                forget(thread, at: now)
                continue
            }
            takeAnswer(of: thread, counters)
            if thread.phase != .free || isOnItsWay(thread, counters) { continue }
            switch observer.look(at: thread, counters) {
            case .running: captureRunning(thread, counters, at: now)
            case .blocked, .moving: break
            case .gone: forget(thread, at: now)
            }
        }
        for request in sink.takeRequests() { answer(request) }
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

    // MARK: Running threads

    private func isOnItsWay(_ thread: TracedThread, _ counters: SchedulerCounters) -> Bool {
        signalCapture?.isOnItsWay(thread, counters) == true
    }

    func takeAnswer(of thread: TracedThread, _ counters: SchedulerCounters) {
        guard let answer = signalCapture?.answer(of: thread) else { return }
        if answer.isOnAlternateStack {
            thread.stackPointer = answer.registers.stackPointer
            stop(thread)
        } else {
            observer.sample(answer, of: thread, counters)
        }
    }

    /// Takes a running thread's stack, in the way that harms it least.
    private func captureRunning(
        _ thread: TracedThread, _ counters: SchedulerCounters, at now: MonotonicTime
    ) {
        guard let status = recentStatus(of: thread, counters) else { return }
        switch thread.burst.approach(voluntary: status.voluntary, at: now) {
        case .spare: note(.spared)
        case .stop: stop(thread)
        case .signal: ask(thread, status, counters)
        }
    }

    private func recentStatus(
        of thread: TracedThread, _ counters: SchedulerCounters
    ) -> ThreadStatus? {
        guard let signalCapture else { return thread.status() }
        let masks = signalCapture.slots.masks
        // A mask changes only a moment after that was announced.
        if masks != lastMasks { (lastMasks, looksAtMasks) = (masks, 8 * threads.count) }
        looksAtMasks = max(0, looksAtMasks - 1)
        if looksAtMasks > 0 || thread.masksAtStatus != masks { thread.forgetStatus() }
        thread.masksAtStatus = masks
        return thread.recentStatus(
            counters, looks: signalCapture.looksPerStatus(installed))
    }

    private func ask(
        _ thread: TracedThread, _ status: ThreadStatus, _ counters: SchedulerCounters
    ) {
        guard let signalCapture else { return stop(thread) }
        let place = observer.stackPlace(of: thread)
        if let obstacle = signalCapture.obstacle(thread, status, place) {
            detour(thread, obstacle)
        } else if !signalCapture.ask(thread, place, counters) {
            detour(thread, .slotsExhausted)
        } else {
            thread.detours = 0
        }
    }

    /// Stops a thread that cannot be asked; what stands in the way for long is worth a note.
    private func detour(_ thread: TracedThread, _ obstacle: RecorderNote.Kind) {
        thread.detours += 1
        switch obstacle {
        case .displaced, .filtered: notes[obstacle] = 1
        default: if thread.detours == SignalCapture.patience { note(obstacle) }
        }
        stop(thread)
    }

    func stop(_ thread: TracedThread) {
        if !thread.isTraced {
            guard (try? thread.tracee.seize()) != nil else { return }
            thread.isTraced = true
        }
        interrupt(thread)
    }

    func interrupt(_ thread: TracedThread) {
        let now = MonotonicTime.now
        if (try? thread.tracee.interrupt()) != nil { thread.phase = .interrupted(now) }
    }

    /// Stops a blocked thread for its registers, if it is still where it was, and if that does
    /// not end the call that it waits in.
    private func answer(_ request: StackRequest) {
        guard let thread = threads.values.first(where: { $0.index == request.thread }),
            thread.phase == .free, let blocked = thread.blocked,
            blocked.serial == request.blocking, !thread.isRefined,
            blocked.position.systemCall >= 0, blocked.kind < .fragile
        else { return }
        stop(thread)
    }

    // MARK: What ptrace reports

    /// What must be looked at before anything that ended is waited for.
    func prepareForChanges() {
        followExecution()
        observeEnd()
    }

    func takeChanges() {
        prepareForChanges()
        while outcome == nil {
            var status: Int32 = 0
            let tid = fl_wait(-1, 1, &status)
            guard tid > 0 else { return }
            guard let event = TraceEvent(status: status) else { continue }
            take(event, of: tid)
        }
    }

    func take(_ event: TraceEvent, of tid: Int32) {
        let now = MonotonicTime.now
        switch event {
        case .exited(let status):
            ended(tid, .exited(status), at: now)
        case .killed(let signal):
            ended(tid, .signalled(signal), at: now)
        case .executed:
            executed(tid, at: now)
        default:
            guard let thread = threads[tid] ?? adopt(tid, at: now) else { return }
            take(event, of: thread, at: now)
        }
    }

    func take(_ event: TraceEvent, of thread: TracedThread, at now: MonotonicTime) {
        switch event {
        case .stopped:
            sampleAtStop(thread)
            if takeMissedExec(thread, at: now) { return }
            if !isLeaving { installSignalCapture(by: thread, at: now) }
            resume(thread, stoppedSince: now)
        case .cloned:
            sampleAtStop(thread)
            if let message = try? thread.tracee.eventMessage() {
                _ = adopt(Int32(truncatingIfNeeded: message), at: now)
            }
            resume(thread, stoppedSince: now)
        case .forked:
            sampleAtStop(thread)
            resume(thread, stoppedSince: now)
        case .exiting:
            if !isLeaving { _ = try? observer.sampleStopped(thread) }
            rename(thread)
            end(thread, at: now)
            if thread.tid == pid || threads.values.allSatisfy({ $0.phase == .exited }) {
                finalCounters = files.counters()
                finalCPU = files.cpuTime
            }
            try? thread.tracee.resume()
        case .signal(let number):
            if number == SIGTRAP, takeBreakpoint(thread, at: now) { return }
            sampleAtStop(thread)
            resume(thread, stoppedSince: now, delivering: number)
        case .groupStop:
            thread.phase = .free
            if isFree { release(thread) } else { try? thread.tracee.listen() }
        case .exited, .killed, .executed:
            break
        }
    }

    /// Takes the sample for which the thread was interrupted, if it was: the kernel lets any
    /// other stop stand for ours.
    private func sampleAtStop(_ thread: TracedThread) {
        guard !isLeaving, case .interrupted(let since) = thread.phase else { return }
        if hasMissedExec, thread.tid == pid { return }
        // An exact copy of what it had: it did not move since.
        if thread.blocked != nil, thread.counters()?.slices == thread.clock.counters.slices {
            try? observer.refine(thread)
        } else {
            _ = try? observer.sampleStopped(thread, stoppedSince: since)
        }
        thread.coresAtStop = thread.counters()?.slices
        // The stop itself counts as leaving its core.
        if let status = thread.status() { thread.burst.sawStop(voluntary: status.voluntary) }
    }

    private func takeBreakpoint(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        // TRAP_HWBKPT is 4 (<asm-generic/siginfo.h>); any other SIGTRAP is the program's own.
        guard watch != nil, thread.tid == pid, (try? thread.tracee.signalCode()) == 4,
            let position = try? thread.tracee.registers().programCounter,
            watch?.isBreakpoint(position) == true
        else { return false }
        if let border = watch?.border(at: position) {
            if !isLeaving {
                let sampled = (try? observer.sampleCaller(of: thread)) ?? now
                mark(border == .main ? .main : .relocated, at: sampled)
                observer.rereadMappings(at: sampled)
            }
            if border == .main {
                leaveMain(at: now)
            } else {
                try? watch?.passedRelocation()
            }
        }
        resume(thread, stoppedSince: now)
        if isLeaving, watch == nil { outcome = .running }
        return true
    }

    func resume(
        _ thread: TracedThread, stoppedSince: MonotonicTime, delivering signal: Int32 = 0
    ) {
        if thread.phase != .exited { thread.phase = .free }
        release(thread, delivering: signal)
        observer.addHold(.now - stoppedSince, to: thread)
    }

    /// Whether threads are not traced but for a stop.
    private var isFree: Bool { signalCapture != nil && !isFollowingExecution }

    /// Lets a stopped thread go on.
    func release(_ thread: TracedThread, delivering signal: Int32 = 0) {
        guard isFree else {
            try? thread.tracee.resume(delivering: signal)
            return
        }
        try? thread.tracee.detach(delivering: signal)
        thread.isTraced = false
    }

    func beginFollowingExecution() {
        isFollowingExecution = true
        executionDeadline = .now + .milliseconds(20)
    }

    /// The program was not executed: the threads are let go as they are stopped next.
    private func abandonExecution() {
        isFollowingExecution = false
        signalCapture?.slots.forgetExecution()
    }

    private func executed(_ tid: Int32, at now: MonotonicTime) {
        guard let main = threads[pid] else { return }
        let former = (try? Tracee(tid: pid).eventMessage()).map { Int32(truncatingIfNeeded: $0) }
        for thread in threads.values where thread.tid != pid {
            if thread.phase != .exited {
                observer.closeWithoutStack(thread, at: now)
                end(thread, at: now)
            }
            threads[thread.tid] = nil
        }
        main.phase = .free
        hasMissedExec = false
        if former == pid { main.openFiles() } else { main.restartClock() }
        if isLeaving {
            watch = nil
            outcome = .running
            return
        }
        beginImage(at: now)
    }

    // MARK: Threads

    var finalCounters: ProcessCounters?

    /// A thread that ptrace brought along with its parent. nil for one of another process (a
    /// clone that shares no thread group): it is let go.
    private func adopt(_ tid: Int32, at now: MonotonicTime) -> TracedThread? {
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
        thread.phase = .exited
        observedCPU = observedCPU + thread.observedCPU
        sink.receive(.threadEnded(thread.index, thread.clock.time))
    }

    func ended(_ tid: Int32, _ how: Recording.Outcome, at now: MonotonicTime) {
        if let thread = threads.removeValue(forKey: tid), thread.phase != .exited {
            // Killed without an exit event, or not traced: where it was is gone with it.
            if !isLeaving, thread.isTraced { observer.closeWithoutStack(thread, at: now) }
            end(thread, at: now)
        }
        if tid == pid {
            if !isLeaving { closeAll(at: now) }
            outcome = how
        }
    }

    // MARK: Endings

    func mark(_ kind: Mark.Kind, at time: MonotonicTime) {
        sink.receive(.mark(Mark(kind: kind, time: time, counters: files.counters())))
    }

    /// Takes no more looks; the process goes on.
    func abandon() {
        guard outcome == nil else { return }
        closeAll(at: .now)
        outcome = .running
    }

    /// Ends the recording: the process is let go as soon as that does no harm.
    func leave() {
        guard !isLeaving, outcome == nil else { return }
        closeAll(at: .now)
        finalCPU = files.cpuTime
        removeSignalCapture()
        isLeaving = true
        // It may have ended while the handler was taken back.
        if watch == nil, outcome == nil { outcome = .running }
    }

    func closeAll(at now: MonotonicTime) {
        for thread in threads.values where thread.phase != .exited {
            // Nothing is known any more of what a thread did that ended unseen.
            let isReadable = thread.blocked != nil || thread.counters() != nil
            if isReadable { observer.close(thread, at: now) }
            rename(thread)
            observedCPU = observedCPU + thread.observedCPU
            sink.receive(.threadEnded(thread.index, isReadable ? now : thread.clock.time))
        }
        sink.receive(
            .mark(Mark(kind: .ended, time: now, counters: finalCounters ?? files.counters())))
    }

    // MARK: Notes

    func note(_ kind: RecorderNote.Kind) { notes[kind, default: 0] += 1 }

    /// What is known of the recording when it is over.
    func result() -> SamplerOutcome {
        SamplerOutcome(
            outcome: outcome ?? .unknown, ticks: ticks, missedTicks: missedTicks,
            lateness: .zero, heldByProfiler: observer.heldByProfiler, capture: capture,
            cpu: observedCPU, notes: finalNotes())
    }

    private func finalNotes() -> [RecorderNote] {
        if let finalCPU {
            let unseen = finalCPU - initialCPU - observedCPU
            if unseen > .zero { notes[.unseenCPU] = unseen.nanoseconds }
        }
        return RecorderNote.Kind.allCases.compactMap { kind in
            notes[kind].map { RecorderNote(kind, $0) }
        }
    }
}
