/// The parts of a session. Each is made with the parts that it needs, so it comes after them, and
/// no two parts can need each other.
struct SessionParts {
    let register: ThreadRegister
    let signposts: SignpostReports
    let discovery: ThreadDiscovery
    let schedule: ScheduleReports
    let timerEnds: TimerEnds
    let room: StackRoom
    let copies: EventCopies
    let harm: StopHarm
    let requests: StopRequests
    let resumption: ThreadResumption
    let stopper: ThreadStopper
    let diversion: ThreadDiversion
    let timerStacks: TimerStacks
    let eventStacks: EventStacks
    let signalStacks: SignalStacks
    let stackCapture: StackCapture
    let patcher: CodePatcher
    let codeUse: CodeUse
    let markPlacer: MarkPlacer
    let libraryReports: LibraryReports
    let launchReports: LaunchReports
    let gate: LaunchGate
    let hookReports: HookReports
    let agentSetup: AgentSetup
    let agentEntry: AgentEntry
    let earlierAgents: EarlierAgentRemoval
    let agentJoin: AgentJoin
    let agentRemoval: AgentRemoval
    let images: ImageBeginnings
    let beginnings: ProcessBeginnings
    let closing: SessionClosing
    let ptrace: PtraceFollower
    let polling: PollingFollower
    let eventFollower: EventFollower
    let leaving: SessionLeaving

    init(_ context: SessionContext) {
        register = ThreadRegister(context: context)
        signposts = SignpostReports(context: context, register: register)
        discovery = ThreadDiscovery(context: context, register: register, signposts: signposts)
        schedule = ScheduleReports(context: context, register: register)
        timerEnds = TimerEnds(context: context)
        room = StackRoom(context: context)
        copies = EventCopies(context: context)
        harm = StopHarm(context: context)
        requests = StopRequests(context: context, harm: harm, timerEnds: timerEnds)
        resumption = ThreadResumption(context: context, requests: requests)
        stopper = ThreadStopper(
            context: context, harm: harm, discovery: discovery, timerEnds: timerEnds,
            requests: requests, resumption: resumption)
        diversion = ThreadDiversion(
            context: context, resumption: resumption, harm: harm, requests: requests,
            stopper: stopper)
        timerStacks = TimerStacks(
            context: context, copies: copies, harm: harm, timerEnds: timerEnds, room: room,
            requests: requests)
        eventStacks = EventStacks(
            context: context, copies: copies, timerEnds: timerEnds, room: room,
            timerStacks: timerStacks)
        signalStacks = SignalStacks(
            context: context, requests: requests, timerStacks: timerStacks, eventStacks: eventStacks
        )
        stackCapture = StackCapture(
            context: context, harm: harm, timerEnds: timerEnds, requests: requests,
            timerStacks: timerStacks, eventStacks: eventStacks, signalStacks: signalStacks)
        patcher = CodePatcher(context: context)
        codeUse = CodeUse(context: context)
        markPlacer = MarkPlacer(
            context: context, discovery: discovery, resumption: resumption, stopper: stopper,
            codeUse: codeUse)
        libraryReports = LibraryReports(context: context)
        launchReports = LaunchReports(
            context: context, signposts: signposts, signalStacks: signalStacks,
            eventStacks: eventStacks, libraryReports: libraryReports)
        gate = LaunchGate(
            context: context, patcher: patcher, signposts: signposts, markPlacer: markPlacer,
            libraryReports: libraryReports, launchReports: launchReports)
        hookReports = HookReports(
            context: context, gate: gate, signposts: signposts, libraryReports: libraryReports,
            launchReports: launchReports)
        agentSetup = AgentSetup(context: context)
        agentEntry = AgentEntry(
            context: context, stopper: stopper, patcher: patcher, agentSetup: agentSetup)
        earlierAgents = EarlierAgentRemoval(
            context: context, discovery: discovery, stopper: stopper, codeUse: codeUse,
            patcher: patcher, diversion: diversion)
        agentJoin = AgentJoin(
            context: context, diversion: diversion, harm: harm, signposts: signposts,
            requests: requests, resumption: resumption, stopper: stopper, patcher: patcher,
            agentSetup: agentSetup, earlierAgents: earlierAgents)
        agentRemoval = AgentRemoval(
            context: context, signposts: signposts, resumption: resumption, stopper: stopper,
            codeUse: codeUse, patcher: patcher, earlierAgents: earlierAgents, diversion: diversion)
        images = ImageBeginnings(
            context: context, gate: gate, register: register, resumption: resumption,
            launchReports: launchReports, agentEntry: agentEntry)
        beginnings = ProcessBeginnings(
            context: context, register: register, libraryReports: libraryReports, images: images)
        closing = SessionClosing(
            context: context, register: register, signposts: signposts, schedule: schedule,
            timerEnds: timerEnds, timerStacks: timerStacks, eventStacks: eventStacks,
            hookReports: hookReports)
        ptrace = PtraceFollower(
            context: context, register: register, discovery: discovery, resumption: resumption,
            hookReports: hookReports, images: images, closing: closing, agentJoin: agentJoin)
        polling = PollingFollower(
            context: context, register: register, discovery: discovery, signposts: signposts,
            schedule: schedule, timerEnds: timerEnds, signalStacks: signalStacks,
            launchReports: launchReports, hookReports: hookReports, images: images, closing: closing
        )
        eventFollower = EventFollower(
            context: context, register: register, eventStacks: eventStacks, images: images,
            beginnings: beginnings, closing: closing)
        leaving = SessionLeaving(
            context: context, stopper: stopper, markPlacer: markPlacer, images: images,
            closing: closing, agentJoin: agentJoin, agentRemoval: agentRemoval)
    }
}
