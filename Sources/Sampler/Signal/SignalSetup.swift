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

/// Puts the signal capture into the program. One of its own threads does what must be done there,
/// from wherever it was stopped.
extension TraceSession {
    /// At `main`, with its thread stopped there: takes back what watched the launch.
    func leaveMain(by thread: TracedThread, at now: MonotonicTime) {
        guard let passed = watch else { return }
        try? passed.passedMain()
        watch = nil
        reportHooks(at: now)
        if plan == .afterMain { plan = .due(hooks == nil ? now + Self.settling : now) }
        if isLeaving {
            dropHooks(by: thread)
        } else if plan == .never {
            leaveInitializers(by: thread)
        } else {
            try? hooks?.disarm(by: thread.tracee)
            // At once: it tells our code when the program filters its system calls.
            if hooks != nil { installSignalCapture(by: thread, at: now) }
        }
        try? passed.restoreTrapAction()
    }

    /// Shells that only execute another program are gone sooner, and the few stops until then
    /// cost them less.
    private static var settling: TimeSpan { .milliseconds(3) }

    /// With a thread stopped by us, and nothing of the launch left to watch: if it is time,
    /// stacks are taken by signal from now on, or it is noted why not.
    func installSignalCapture(by thread: TracedThread, at now: MonotonicTime) {
        guard case .due(let time) = plan, now >= time,
            let position = try? thread.tracee.resumeAddress(),
            // The agent's naps would take the place of what a call's restart needs.
            canBeLedAway(thread, at: position), !thread.tracee.isInCall
        else { return }
        if let agent = try? placeAgent(thread), hookLate(by: thread, agent) { return }
        guard hooks?.area.isReady != false else { return }
        if let agent, obtainMarkIsland(by: thread, agent) { return }
        guard marks?.island?.isReady != false else { return }
        plan = .over
        setups += 1
        do throws(SetupFailure) {
            let original = try checkTarget()
            let sites = CallSites.find(
                in: observer.mappings.code, memory: TargetMemory(pid: pid))
            guard sites[.sigaction] != nil else { throw .obstacle(.noCallSite) }
            let agent = try placeAgent(thread)
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
                abandonMarks()
            }
        }
    }

    /// On a busy machine it may fail.
    private static var mostSetups: Int { 3 }

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

    /// Lets the thread make the slots; it is stopped then, and waits for us.
    private func obtainSlots(
        _ thread: TracedThread, _ agent: Agent
    ) throws(SetupFailure) -> SharedSlots {
        let status = ProcessStatus(pid: pid)
        let identity = Agent.Identity(
            pid: status?.innerPID ?? pid, recorder: files.sharesNamespaceWithUs ? getpid() : 0)
        let (size, slotSize) = (slotsSize, slotSize)
        let mapping = try letMap(thread, agent) { () throws(SystemError) in
            try agent.prepareSlots(
                size: size, slotSize: slotSize, identity: identity, by: thread.tracee)
        }
        guard
            let slots = SharedSlots(
                pid: pid, descriptor: mapping.descriptor, address: mapping.address,
                slotSize: slotSize, count: SignalCapture.slotCount)
        else { throw .obstacle(.unmapped) }
        return slots
    }

    /// With the thread stopped while it waits for us.
    private func activate(
        _ slots: SharedSlots, _ planned: Installed, _ sites: CallSites, _ thread: TracedThread
    ) throws(SetupFailure) {
        let others = stopOthers(than: thread)
        defer { for other in others { release(other) } }
        // Until now they ran: one may have set an action of its own.
        guard ProcessStatus(pid: pid)?.catches(SIGURG) == false else {
            throw .obstacle(.ownHandler)
        }
        // First of all: should we die on the way, it must not unmap what the agent knows of.
        guard slots.accept() else { throw .obstacle(.unmapped) }
        var installed = planned
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
        hookLinker(by: thread)
        if untraced == nil { untraced = UntracedProcess(pid: pid, probe: planned.agent.base) }
        thread.burst.sawStop(voluntary: thread.status()?.voluntary ?? 0)
        isFollowingExecution = false
    }
}
