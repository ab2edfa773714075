/// The parts of a session. Each is made with those that it needs, so what needs others comes behind them,
/// and none can need another in turn.
struct SessionParts {
    let register: ThreadRegister
    let signposts: SignpostReports
    let discovery: ThreadDiscovery
    let schedule: ScheduleReports
    let timerWatch: TimerWatch
    let room: StackRoom
    let requests: StopRequests
    let tracer: ThreadTracer
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
        timerWatch = TimerWatch(context: context)
        room = StackRoom(context: context)
        requests = StopRequests(context: context, timerWatch: timerWatch)
        tracer = ThreadTracer(context: context, requests: requests)
        stopper = ThreadStopper(
            context: context, discovery: discovery, timerWatch: timerWatch, room: room,
            requests: requests, tracer: tracer)
        diversion = ThreadDiversion(context: context, requests: requests, stopper: stopper)
        timerStacks = TimerStacks(
            context: context, timerWatch: timerWatch, room: room, requests: requests)
        eventStacks = EventStacks(
            context: context, timerWatch: timerWatch, room: room, timerStacks: timerStacks)
        signalStacks = SignalStacks(
            context: context, requests: requests, timerStacks: timerStacks, eventStacks: eventStacks
        )
        stackCapture = StackCapture(
            context: context, timerWatch: timerWatch, requests: requests, timerStacks: timerStacks,
            eventStacks: eventStacks, signalStacks: signalStacks)
        patcher = CodePatcher(context: context)
        codeUse = CodeUse(context: context)
        markPlacer = MarkPlacer(
            context: context, discovery: discovery, tracer: tracer, stopper: stopper,
            codeUse: codeUse)
        libraryReports = LibraryReports(context: context)
        launchReports = LaunchReports(
            context: context, patcher: patcher, signposts: signposts, signalStacks: signalStacks,
            markPlacer: markPlacer, libraryReports: libraryReports)
        hookReports = HookReports(
            context: context, signposts: signposts, libraryReports: libraryReports,
            launchReports: launchReports)
        agentSetup = AgentSetup(context: context)
        agentEntry = AgentEntry(
            context: context, stopper: stopper, patcher: patcher, agentSetup: agentSetup)
        earlierAgents = EarlierAgentRemoval(
            context: context, discovery: discovery, stopper: stopper, codeUse: codeUse,
            patcher: patcher, diversion: diversion)
        agentJoin = AgentJoin(
            context: context, signposts: signposts, room: room, requests: requests, tracer: tracer,
            stopper: stopper, patcher: patcher, agentSetup: agentSetup, earlierAgents: earlierAgents
        )
        agentRemoval = AgentRemoval(
            context: context, signposts: signposts, tracer: tracer, stopper: stopper,
            codeUse: codeUse, patcher: patcher, earlierAgents: earlierAgents, diversion: diversion)
        images = ImageBeginnings(
            context: context, register: register, tracer: tracer, launchReports: launchReports,
            agentEntry: agentEntry)
        beginnings = ProcessBeginnings(
            context: context, register: register, libraryReports: libraryReports, images: images)
        closing = SessionClosing(
            context: context, register: register, signposts: signposts, schedule: schedule,
            timerWatch: timerWatch, timerStacks: timerStacks, eventStacks: eventStacks,
            hookReports: hookReports)
        ptrace = PtraceFollower(
            context: context, register: register, discovery: discovery, tracer: tracer,
            hookReports: hookReports, images: images, closing: closing, agentJoin: agentJoin)
        polling = PollingFollower(
            context: context, register: register, discovery: discovery, signposts: signposts,
            schedule: schedule, timerWatch: timerWatch, signalStacks: signalStacks,
            launchReports: launchReports, hookReports: hookReports, images: images, closing: closing
        )
        eventFollower = EventFollower(
            context: context, register: register, eventStacks: eventStacks, images: images,
            beginnings: beginnings, closing: closing)
        leaving = SessionLeaving(
            context: context, markPlacer: markPlacer, images: images, closing: closing,
            agentJoin: agentJoin, agentRemoval: agentRemoval)
    }
}
