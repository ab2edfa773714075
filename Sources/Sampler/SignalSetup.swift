import CSystem
import Glibc
import ProfileModel

/// What must be taken back from the program.
struct Installed {
    let agent: Agent
    /// What the sampling signal did before.
    let original: Agent.Action
    /// The words that were at the sites of the C library's calls.
    var hooked: [UInt64: UInt64]
    /// Whether the program's changes of signal masks pass by us.
    var seesMasks = false
}

/// Puts the signal capture into the program, and takes it out again. One of the program's own
/// threads does what must be done there, from wherever it was stopped.
extension TraceSession {
    // MARK: Beginning

    /// At `main`, with its thread stopped there: takes back the launch's breakpoints.
    func leaveMain(at now: MonotonicTime) {
        try? watch?.passedMain()
        watch = nil
        if plan == .afterMain { plan = .due(now + Self.settling) }
    }

    /// Shells that only execute another program are gone sooner, and the few stops until then
    /// cost them less.
    private static var settling: TimeSpan { .milliseconds(3) }

    /// With a thread stopped by us, and nothing of the launch left to watch: if it is time,
    /// stacks are taken by signal from now on, or it is noted why not.
    func installSignalCapture(by thread: TracedThread, at now: MonotonicTime) {
        guard case .due(let time) = plan, now >= time,
            let resume = try? thread.tracee.resumeAddress(),
            // From our own code it would never come back.
            agent?.range.contains(resume) != true,
            // Its registers are put aside on its stack.
            observer.stackPlace(of: thread).hasRoom, !thread.tracee.isInSequence,
            // The agent's own calls would take the place of what a call's restart needs.
            fl_ptrace_in_call(thread.tid) == 0
        else { return }
        plan = .over
        setups += 1
        do throws(SetupFailure) {
            let original = try checkTarget()
            let sites = CallSites.find(
                in: observer.mappings.code, memory: TargetMemory(pid: pid))
            guard sites[.sigaction] != nil else { throw .obstacle(.noCallSite) }
            let agent = try placeAgent(thread)
            let entry = try prepare(agent, thread, resume)
            try attempt { () throws(SystemError) in try thread.tracee.divert(to: entry) }
            let slots = try obtainSlots(thread, agent)
            try activate(
                slots, Installed(agent: agent, original: original, hooked: [:]), sites, thread)
        } catch {
            // Led away already, it finds its own way back.
            if case .obstacle(.unmapped) = error, setups < Self.mostSetups {
                plan = .due(now)
            } else if case .obstacle(let kind) = error {
                note(kind)
                capture = .ptrace
            }
        }
    }

    /// On a busy machine it may fail.
    private static var mostSetups: Int { 3 }

    enum SetupFailure: Error {
        case obstacle(RecorderNote.Kind)
        /// The thread is gone, or the program.
        case gone
    }

    private func attempt<Value>(
        _ body: () throws(SystemError) -> Value
    ) throws(SetupFailure) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            throw .gone
        }
    }

    /// What the sampling signal does so far, if everything else allows for the capture, too.
    private func checkTarget() throws(SetupFailure) -> Agent.Action {
        guard let status = ProcessStatus(pid: pid) else { throw .gone }
        if status.isFiltered(beyond: SignalCapture.ownFilters) { throw .obstacle(.filtered) }
        if status.catches(SIGURG) { throw .obstacle(.ownHandler) }
        let size = UInt64(slotsSize)
        // Beyond these the program would be killed, or its own allocations fail.
        guard fl_file_size_limit(pid) >= size, fl_address_space_limit(pid) == .max else {
            throw .obstacle(.limited)
        }
        return status.ignores(SIGURG) ? .ignored : .standard
    }

    private var slotSize: Int { SignalCapture.slotSize(stackBytes: options.stackBytes) }
    private var slotsSize: Int { slotSize * SignalCapture.slotCount }

    private func placeAgent(_ thread: TracedThread) throws(SetupFailure) -> Agent {
        let placed =
            agent
            ?? Agent.place(vdso: AuxiliaryVector(pid: pid).vdso, tracee: thread.tracee)
        agent = placed
        observer.agent = placed?.range
        guard let placed, placed.canSample else { throw .obstacle(.noRoom) }
        return placed
    }

    private func prepare(
        _ agent: Agent, _ thread: TracedThread, _ resume: UInt64
    ) throws(SetupFailure) -> UInt64 {
        let status = ProcessStatus(pid: pid)
        let identity = Agent.Identity(
            pid: status?.innerPID ?? pid, recorder: files.sharesNamespaceWithUs ? getpid() : 0)
        let (size, slotSize) = (slotsSize, slotSize)
        return try attempt { () throws(SystemError) in
            try agent.prepareSlots(
                size: size, slotSize: slotSize, identity: identity, by: thread.tracee, then: resume)
        }
    }

    /// Lets the thread make the slots and stops it when it waits for us.
    private func obtainSlots(
        _ thread: TracedThread, _ agent: Agent
    ) throws(SetupFailure) -> SharedSlots {
        // Bounded: it waits for some twenty milliseconds.
        for _ in 0..<64 {
            try attempt { () throws(SystemError) in try thread.tracee.resume() }
            waitForCore(thread)
            guard stopNow(thread) != nil,
                let registers = try? thread.tracee.registers()
            else { throw .gone }
            guard agent.waitingRange.contains(registers.programCounter) else {
                if agent.range.contains(registers.programCounter) { continue }
                // It is back without having waited: a call has failed.
                throw .obstacle(.unmapped)
            }
            let descriptor = Int32(truncatingIfNeeded: registers[Agent.descriptorRegister] ?? 0)
            guard
                let slots = SharedSlots(
                    pid: pid, descriptor: descriptor,
                    address: registers[Agent.addressRegister] ?? 0, slotSize: slotSize,
                    count: SignalCapture.slotCount)
            else { throw .obstacle(.unmapped) }
            return slots
        }
        throw .obstacle(.unmapped)
    }

    /// Stopped again before it had a core, it would not get on.
    private func waitForCore(_ thread: TracedThread) {
        let before = thread.counters()?.slices
        let deadline = MonotonicTime.now + .milliseconds(20)
        repeat {
            pause(microseconds: 40)
        } while thread.counters()?.slices == before && MonotonicTime.now < deadline
    }

    /// With the thread stopped while it waits for us.
    private func activate(
        _ slots: SharedSlots, _ planned: Installed, _ sites: CallSites, _ thread: TracedThread
    ) throws(SetupFailure) {
        // First of all: should we die on the way, it must not unmap what the agent knows of.
        guard slots.accept() else { throw .obstacle(.unmapped) }
        var installed = planned
        let others = stopOthers(than: thread)
        defer { for other in others { release(other) } }
        try attempt { () throws(SystemError) in
            try planned.agent.enableSlots(
                at: slots.address, original: planned.original, by: thread.tracee)
            for call in CallSites.Call.allCases {
                guard let site = sites[call] else { continue }
                if let word = try planned.agent.hook(call, at: site, by: thread.tracee) {
                    installed.hooked[site] = word
                    if call == .sigmask { installed.seesMasks = true }
                }
            }
        }
        self.installed = installed
        signalCapture = SignalCapture(pid: pid, slots: slots, stackBytes: options.stackBytes)
        if untraced == nil { untraced = UntracedProcess(pid: pid, probe: planned.agent.base) }
        thread.burst.sawStop(voluntary: thread.status()?.voluntary ?? 0)
        isFollowingExecution = false
    }

    // MARK: The end

    /// Leaves nothing behind in the program: one of its threads takes back the handler and the
    /// slots, on its way.
    func removeSignalCapture() {
        defer { signalCapture = nil }
        guard let capture = signalCapture, let installed else { return }
        waitForHandlers(capture)
        let isIdle = !threads.values.contains { capture.isUnderWay($0) }
        let action = capture.slots.isDisplaced ? nil : installed.original
        guard let thread = stopAny() else {
            note(.leftBehind)
            return
        }
        let others = stopOthers(than: thread)
        do throws(SystemError) {
            for (site, word) in installed.hooked {
                try thread.tracee.write(words: [word], at: site)
            }
            if let resume = try? thread.tracee.resumeAddress() {
                try installed.agent.removeSlots(
                    at: isIdle ? capture.slots.address : 0, restoring: action,
                    by: thread.tracee, then: resume)
            }
        } catch {
            note(.leftBehind)
        }
        for stopped in others + [thread] { release(stopped) }
    }

    /// Requests that are under way are answered as soon as their threads get a core.
    private func waitForHandlers(_ capture: SignalCapture) {
        let deadline = MonotonicTime.now + .milliseconds(50)
        while threads.values.contains(where: { capture.isUnderWay($0) }), .now < deadline {
            pause(microseconds: 200)
        }
    }

    /// Some thread, stopped, without having ended a call by it: one that runs, or waits in a call
    /// that is restarted. nil when none can be had within a tenth of a second.
    private func stopAny() -> TracedThread? {
        let deadline = MonotonicTime.now + .milliseconds(100)
        repeat {
            for thread in threads.values where thread.phase == .free {
                guard let activity = thread.activity() else { continue }
                if case .blocked(let call, let registers) = activity {
                    let kind = RestartingCalls.kind(of: call, registers, process: pid)
                    guard call >= 0, kind < .fragile else { continue }
                }
                guard let position = stopNow(thread) else { continue }
                if canBeLedAway(thread, at: position) { return thread }
                release(thread)
            }
            pause(microseconds: 500)
        } while MonotonicTime.now < deadline
        return nil
    }

    private func canBeLedAway(_ thread: TracedThread, at position: UInt64) -> Bool {
        agent?.range.contains(position) != true && !thread.tracee.isInSequence
    }

    // MARK: Stops

    /// Stops all other threads that run, so that code can be changed under them.
    private func stopOthers(than thread: TracedThread) -> [TracedThread] {
        threads.values.filter { other in
            guard other.tid != thread.tid, other.phase == .free,
                case .running = other.activity()
            else { return false }
            return stopNow(other) != nil
        }
    }

    /// Stops a thread and waits for it; where it would go on. Signals to it are passed on.
    func stopNow(_ thread: TracedThread) -> UInt64? {
        if !thread.isTraced, (try? thread.tracee.seize()) == nil { return nil }
        thread.isTraced = true
        for _ in 0..<64 {
            guard thread.isTraced else { return nil }
            var status: Int32 = 0
            // Asked to stop when it has stopped already, it would do so twice. And any other stop
            // takes the place of ours: then it is asked for again.
            if fl_wait(thread.tid, 1, &status) != thread.tid {
                guard (try? thread.tracee.interrupt()) != nil,
                    fl_wait(thread.tid, 0, &status) == thread.tid
                else { return nil }
            }
            guard let event = TraceEvent(status: status)
            else { return nil }
            switch event {
            case .stopped: return try? thread.tracee.resumeAddress()
            case .signal(let number): try? thread.tracee.resume(delivering: number)
            default:
                take(event, of: thread.tid)
                if thread.phase == .exited { return nil }
            }
        }
        return nil
    }

    private func pause(microseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: 1000 * microseconds)
        nanosleep(&time, nil)
    }
}
