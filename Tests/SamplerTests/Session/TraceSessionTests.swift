import CAgent
import Glibc
import ProfileModel
import Testing

@testable import Sampler

/// A session on a made process: what it tells, and what it does to the threads.
@Suite struct TraceSessionTests {
    let process = MadeProcess()
    let sink = RecordingSink()

    private func options(_ capture: CaptureMethod) -> SamplerOptions {
        var options = SamplerOptions(capture: capture)
        options.asksScheduler = false
        return options
    }

    /// Traced, at its first instruction, and let go.
    func launched() -> TraceSession {
        let session = TraceSession(process, options: options(.ptrace), sink: sink)
        let main = TracedThread(
            process.thread(process.pid), index: ThreadIndex(0), start: process.now, isNew: false)
        process.pass(2)
        process.main.stop()
        session.beginLaunch(
            StartedProcess(
                image: Image(path: "/asked/for", arguments: ["for"], time: process.now),
                main: main, firstInstruction: process.now, area: nil, ignoresSampleSignal: false,
                sites: nil,
                schedule: nil))
        return session
    }

    /// Not traced but for stops.
    func attached() throws -> TraceSession {
        let session = TraceSession(process, options: options(.signal), sink: sink)
        try session.beginAttached {}
        return session
    }

    func tick(_ session: TraceSession) {
        session.tick(at: process.now, missed: 0)
        session.takeChanges()
    }

    // MARK: Launches

    @Test func aLaunchBegins() {
        let session = launched()
        #expect(sink.borders == [.spawned, .firstInstruction, .main])
        #expect(sink.started == [process.pid])
        #expect(sink.images == ["/made/first"])
        #expect(process.main.done == [.resumed(0)])
        #expect(session.stage.image?.path == "/made/first")
    }

    /// Of a program that is over already nothing can be read any more.
    @Test func aLaunchThatIsOverAtOnceHasItsName() {
        process.path = ""
        let session = launched()
        #expect(sink.images == ["/asked/for"])
        #expect(session.stage.image?.path == "/asked/for")
    }

    @Test func aProcessThatEndsAsItIsAttachedToHasItsName() throws {
        let session = TraceSession(process, options: options(.signal), sink: sink)
        try session.beginAttached { process.path = "" }
        #expect(sink.images == ["/made/first"])
        #expect(session.stage.image?.path == "/made/first")
    }

    @Test func aProcessThatBecomesAnotherAsItIsAttachedToHasThatName() throws {
        let session = TraceSession(process, options: options(.signal), sink: sink)
        try session.beginAttached { process.path = "/made/second" }
        #expect(sink.images == ["/made/second"])
    }

    /// Between two looks one thread ends and another begins: there are as many as before.
    @Test func aThreadTakesTheirPlaceWhoEnded() throws {
        process.start(process.pid + 1).block()
        process.main.block()
        process.program.threadLinks = 4
        let session = try attached()
        for _ in 0..<3 { tick(session) }
        process.remove(process.pid + 1)
        process.start(process.pid + 2)
        for _ in 0..<2 { tick(session) }
        #expect(session.threads[process.pid + 2] != nil)
    }

    /// It asked to be traced: only the thread that forked it can make it go on.
    @Test func aProgramThatAskedToBeTracedIsReleased() throws {
        let session = try attached()
        process.tell(.signal(23), of: process.pid)
        session.takeChanges()
        #expect(process.releasedByParent.map(\.signal) == [23])
        #expect(process.main.done == [])
    }

    @Test func statesAddUpToTheTimeThatPassed() {
        let session = launched()
        for round in 0..<20 {
            process.pass(1)
            if round % 5 == 3 { process.main.block() }
            if round % 5 == 4 { process.main.wake() }
            tick(session)
        }
        process.main.stop()
        process.tell(.exiting, of: process.pid)
        process.tell(.exited(status: 3), of: process.pid)
        session.takeChanges()
        #expect(session.outcome == .exited(3))
        #expect(sink.times().wall == .milliseconds(22))
        #expect(sink.times().running == TimeSpan(nanoseconds: process.main.run))
        #expect(session.result().cpu == TimeSpan(nanoseconds: process.main.run))
        #expect(sink.ended == [ThreadIndex(0)])
        #expect(sink.borders.last == .ended)
    }

    @Test func aRunningThreadIsStoppedForItsStack() {
        let session = launched()
        process.pass(1)
        tick(session)
        #expect(process.main.done == [.resumed(0), .interrupted, .resumed(0)])
        #expect(sink.samples().last?.kind == "snapshot")
        #expect(!process.main.isStopped)
    }

    // MARK: Events

    @Test func threadsAreBorn() {
        let session = launched()
        process.start(process.pid + 1)
        process.main.message = UInt64(process.pid) + 1
        process.main.stop()
        process.tell(.cloned, of: process.pid)
        session.takeChanges()
        #expect(sink.started == [process.pid, process.pid + 1])
        #expect(!process.main.isStopped)
        // Its first stop.
        process.threads[process.pid + 1]?.stop()
        process.tell(.stopped, of: process.pid + 1)
        session.takeChanges()
        #expect(process.threads[process.pid + 1]?.isStopped == false)
        #expect(sink.started.count == 2)
    }

    /// A thread that is traced for a stop makes it, and so it is traced, too.
    @Test func aThreadThatIsSeenBeforeItsFirstStop() throws {
        let session = try attached()
        _ = try instrument(session)
        let thread = process.start(process.pid + 1)
        process.program.threadLinks = 4
        tick(session)
        #expect(session.threads[process.pid + 1]?.isTraced == false)
        thread.stop()
        process.tell(.stopped, of: process.pid + 1)
        session.takeChanges()
        #expect(!thread.isStopped && thread.done.last == .detached(0))
    }

    @Test func aCloneThatIsNoThreadIsLetGo() {
        let session = launched()
        process.main.message = 77
        process.main.stop()
        process.tell(.cloned, of: process.pid)
        session.takeChanges()
        #expect(sink.started == [process.pid])
    }

    @Test func signalsArePassedOn() {
        let session = launched()
        process.main.stop()
        process.tell(.signal(10), of: process.pid)
        session.takeChanges()
        #expect(process.main.done.last == .resumed(10))
    }

    /// Alone, calls outlast neither a stop by the user nor his going on.
    @Test func callsOutlastStopsButTheUsers() {
        let session = launched()
        let events: [(TraceEvent, kept: Int)] = [
            (.stopped, 1), (.signal(SIGWINCH), 2), (.signal(SIGTSTP), 2),
            (.groupStop(signal: SIGTSTP), 2), (.stopped, 2), (.signal(SIGCONT), 2), (.stopped, 3),
        ]
        for (event, kept) in events {
            process.main.stop()
            process.tell(event, of: process.pid)
            session.takeChanges()
            #expect(process.main.keptCalls == kept, "\(event)")
        }
    }

    @Test func aStoppedProcessStaysSo() {
        let session = launched()
        process.main.stop()
        process.tell(.groupStop(signal: 19), of: process.pid)
        session.takeChanges()
        #expect(process.main.done.last == .listened)
        #expect(process.main.isStopped)
    }

    @Test func aKilledProcess() {
        let session = launched()
        process.start(process.pid + 1)
        process.main.message = UInt64(process.pid) + 1
        process.main.stop()
        process.tell(.cloned, of: process.pid)
        session.takeChanges()
        process.pass(3)
        process.remove(process.pid + 1)
        process.remove(process.pid)
        process.tell(.killed(signal: 9), of: process.pid + 1)
        process.tell(.killed(signal: 9), of: process.pid)
        session.takeChanges()
        #expect(session.outcome == .signalled(9))
        #expect(Set(sink.ended) == [ThreadIndex(0), ThreadIndex(1)])
        #expect(sink.borders.last == .ended)
        // Whatever comes now is of no interest.
        let told = sink.events.count
        tick(session)
        #expect(sink.events.count == told)
    }

    // MARK: Other programs

    @Test func anotherProgramIsExecuted() {
        let session = launched()
        process.start(process.pid + 1)
        process.main.message = UInt64(process.pid) + 1
        process.main.stop()
        process.tell(.cloned, of: process.pid)
        session.takeChanges()
        let first = session.stage.image
        process.pass(2)
        process.remove(process.pid + 1)
        process.path = "/made/second"
        process.main.message = UInt64(process.pid)
        process.main.stop()
        process.tell(.executed, of: process.pid)
        session.takeChanges()
        #expect(sink.images == ["/made/first", "/made/second"])
        #expect(sink.ended == [ThreadIndex(1)])
        #expect(session.stage.image !== first)
        #expect(Array(sink.borders.suffix(2)) == [.firstInstruction, .main])
        #expect(process.main.done.suffix(2) == [.reopened, .resumed(0)])
    }

    /// As of `exec sudo`: the kernel gives no privileges to who is traced. It may be over before
    /// there is time to tell of it.
    @Test func aProgramThatIsDeniedPrivileges() {
        let session = launched()
        #expect(!session.result().notes.contains { $0.kind == .deniedPrivileges })
        process.isDenied = true
        process.main.message = UInt64(process.pid)
        process.main.stop()
        process.tell(.executed, of: process.pid)
        session.takeChanges()
        #expect(session.result().notes.contains(RecorderNote(.deniedPrivileges)))
    }

    /// The first thread's id is another one's then, which has used less.
    @Test func anotherThreadExecutesAProgram() {
        let session = launched()
        process.pass(10)
        tick(session)
        process.main.takeOver(run: 1)
        process.main.message = UInt64(process.pid) + 5
        process.main.stop()
        process.tell(.executed, of: process.pid)
        session.takeChanges()
        process.pass(4)
        tick(session)
        let times = sink.times()
        #expect(times.wall == .milliseconds(16))
        #expect(sink.samples().allSatisfy { $0.times.running >= .zero })
    }

    @Test func anExecThatWasNoticedLate() throws {
        let session = try attached()
        process.pass(1)
        process.main.block()
        process.program.isGone = true
        process.path = "/made/second"
        process.holdsStops = true
        for _ in 0..<4 { tick(session) }
        // It may wait already in a call that a stop would end.
        #expect(!process.main.done.contains(.interrupted))
        #expect(!session.stage.hasMissedExec)
        process.program.isGone = false
        #expect(sink.images == ["/made/first", "/made/second"])
        #expect(session.stage.isSettling)
        #expect(session.result().notes.contains { $0.kind == .lateExec })
        #expect(!process.main.isStopped)
    }

    /// The first thread was being stopped for its stack just then.
    @Test func anExecThatWasNoticedLateByAStop() throws {
        let session = try attached()
        process.pass(1)
        process.holdsStops = true
        session.stop(try #require(session.threads[process.pid]))
        process.program.isGone = true
        process.path = "/made/second"
        for _ in 0..<4 { tick(session) }
        #expect(session.stage.hasMissedExec)
        #expect(session.stage.image == nil)
        process.program.isGone = false
        process.releaseStops()
        session.takeChanges()
        #expect(sink.images == ["/made/first", "/made/second"])
        #expect(session.stage.isSettling)
        #expect(!process.main.isStopped)
    }

    /// The kernel lets any other stop stand for the one in the next image, which comes no more.
    @Test(arguments: [TraceEvent.signal(10), .cloned, .forked])
    func anExecThatWasNoticedLateByAnotherStop(event: TraceEvent) throws {
        let session = try attached()
        process.pass(1)
        process.deaf = process.pid
        session.stop(try #require(session.threads[process.pid]))
        process.program.isGone = true
        process.path = "/made/second"
        for _ in 0..<4 { tick(session) }
        #expect(session.stage.hasMissedExec)
        process.program.isGone = false
        process.deaf = nil
        process.tell(event, of: process.pid)
        session.takeChanges()
        #expect(sink.images == ["/made/first", "/made/second"])
        #expect(session.stage.isSettling)
        #expect(!process.main.isStopped)
    }

    /// A thread was led away to bring our code in, and gets no core.
    private func leadAway(_ session: TraceSession) throws -> RunningImage {
        let image = try #require(session.stage.image)
        image.entry = PendingEntry(
            tid: process.pid, since: process.now, descriptor: 3,
            contents: Area.Contents(place: 0x7000_0000, recorder: 0, cookie: 1), sites: .unknown,
            linker: nil, objects: [])
        return image
    }

    /// It is neither tried again meanwhile, nor waited for for ever.
    @Test func anEntryThatNeverComesIsGivenUp() throws {
        let session = try attached()
        #expect(session.stage.imageToJoin === session.stage.image)
        let image = try leadAway(session)
        #expect(session.stage.imageToJoin == nil)
        process.pass(4900)
        session.stop(try #require(session.threads[process.pid]))
        tick(session)
        #expect(image.entry != nil && session.stage.isSettling)
        #expect(session.result().notes.isEmpty)
        process.pass(200)
        tick(session)
        #expect(!session.stage.isSettling)
        #expect(session.result().notes.map(\.kind) == [.unmapped])
        #expect(session.result().capture == .ptrace)
    }

    @Test func anEntryThatHasNotComeByTheEndIsTold() throws {
        let session = try attached()
        _ = try leadAway(session)
        session.leave()
        #expect(Set(session.result().notes.map(\.kind)) == [.lateEntry, .leftBehind])
    }

    /// Who waits all the time needs no code of ours; who would run does.
    @Test(arguments: [false, true]) func nobodyCouldBeLedAway(waits: Bool) throws {
        let session = try attached()
        if waits { process.main.block(in: 232) }
        session.leave()
        #expect(session.result().notes.contains { $0.kind == .lateEntry } == !waits)
    }

    /// Its registers were asked for when it still waited where it had been seen.
    @Test func aRequestThatCameTooLate() throws {
        let session = launched()
        process.pass(1)
        process.main.block(in: 202)
        tick(session)
        let thread = try #require(session.threads[process.pid])
        let blocking = try #require(thread.blocked)
        let refinement = StackRefinement(thread: thread.index, blocking: blocking.serial)
        process.main.wake()
        let before = process.main.done
        session.refine(refinement)
        #expect(process.main.done == before)
    }

    // MARK: Without tracing

    @Test func anAttachedProcessesThreads() throws {
        process.start(process.pid + 1).block()
        let session = try attached()
        #expect(Set(sink.started) == [process.pid, process.pid + 1])
        #expect(sink.borders == [.attached])
        #expect(process.main.done.isEmpty)
        process.start(process.pid + 2)
        process.program.threadLinks = 5
        process.pass(1)
        tick(session)
        #expect(sink.started.last == process.pid + 2)
    }

    @Test func aThreadThatEndsUntraced() throws {
        process.start(process.pid + 1).block()
        let session = try attached()
        process.pass(1)
        tick(session)
        process.remove(process.pid + 1)
        process.pass(1)
        tick(session)
        #expect(sink.ended == [ThreadIndex(1)])
        #expect(session.threads[process.pid + 1] == nil)
        #expect(session.outcome == nil)
    }

    /// There are counters, but nothing else any more.
    @Test func aThreadThatVanishesBetweenTwoReads() throws {
        let thread = process.start(process.pid + 1)
        thread.block()
        let session = try attached()
        process.main.block()
        process.pass(1)
        thread.afterLook = { [process] in process.remove(process.pid + 1) }
        tick(session)
        #expect(sink.ended.isEmpty)
        process.pass(1)
        tick(session)
        #expect(sink.ended == [ThreadIndex(1)])
    }

    @Test func aProcessThatEndsUnseen() throws {
        let session = try attached()
        process.pass(1)
        process.remove(process.pid)
        process.program.isGone = true
        process.hasProgram = false
        process.isZombie = nil
        for _ in 0..<4 { tick(session) }
        #expect(session.outcome == .unknown)
        #expect(sink.ended == [ThreadIndex(0)])
        #expect(sink.borders.last == .ended)
    }

    /// Our code finds no place in a process without memory: stacks are taken by stops. As long as it
    /// is tried again nobody stays traced, for each of its signals would be a stop.
    @Test func ourCodeThatCannotBeBroughtIn() throws {
        let session = try attached()
        process.pass(1)
        tick(session)
        #expect(process.main.done == [.seized, .interrupted, .detached(0)])
        #expect(sink.samples().last?.kind == "snapshot")
    }

    // MARK: Execs that are announced

    /// As if our code were in it. Nothing of it is ever called.
    func instrument(_ session: TraceSession) throws -> Area {
        let area = try #require(Area(stackBytes: 4096))
        let image = try #require(session.stage.image)
        session.stage.settle()
        image.untraced = UntracedProcess(process.program)
        image.instrumentation = Instrumentation(
            area, Instrumentation.Setup(),
            hooks: Hooks(area: area, signposts: area.makeSignposts(pid: 1, since: process.now)),
            signals: SignalCapture(
                pid: process.pid, slots: SharedSlots(area: area, cookie: 1), stackBytes: 4096))
        return area
    }

    private func announceExec(in area: Area) {
        area.set(\.execution, UInt32(FL_EXECUTION_AHEAD))
        area.write([0xFF, 0xFF, 0xFF, 0xFF], at: Int(FL_STATE) + Self.nextArea)
    }

    private static let nextArea = MemoryLayout<fl_state>.offset(of: \fl_state.next_area) ?? 0

    @Test func anAbandonedExec() throws {
        let session = try attached()
        let area = try instrument(session)
        process.main.block()
        announceExec(in: area)
        tick(session)
        #expect(process.main.done == [.seized])
        #expect(session.stage.execution != nil)
        #expect(area.value(\.execution) == UInt32(FL_EXECUTION_FOLLOWED))
        process.pass(1000)
        tick(session)
        #expect(session.stage.execution != nil)
        process.pass(1)
        tick(session)
        #expect(session.stage.execution == nil)
        #expect(area.value(\.execution) == UInt32(FL_EXECUTION_NONE))
        #expect(session.area === area)
    }

    /// The kernel drops a signal if one like it already waits, and what comes with it beyond
    /// RLIMIT_SIGPENDING: nobody will answer, and nobody may wait for that.
    @Test(arguments: [false, true]) func aRequestIsTakenBackWhereItsSignalIsLost(
        isPending: Bool
    ) throws {
        let session = try attached()
        let area = try instrument(session)
        area.set(\.sample_signal, 23)
        let slots = SharedSlots(area: area, cookie: 1)
        let signals = SignalCapture(pid: process.pid, slots: slots, stackBytes: 4096)
        let thread = try #require(session.threads[process.pid])
        let slot = try #require(slots.take())
        thread.slot = slot
        #expect(slots.request(slot, stack: 0..<0, limit: 64, masks: 0) == .ready)
        slots.wasSent()
        process.main.pendingSignals = isPending ? 1 << 22 : 1 << 21
        for _ in 1...5 {
            process.main.lose()
            process.main.wake()
            _ = signals.isOnItsWay(thread, try #require(thread.counters()))
        }
        #expect(signals.isUnderWay(thread) == isPending)
        let outstanding = AreaSignalTests.outstanding(area)
        #expect(outstanding == (isPending ? 1 : 0))
    }

    /// Before Linux 5.7 an exec locks the memory until all other threads have ended.
    @Test func nothingIsReadOfAThreadThatEndsForAnExec() throws {
        let session = try attached()
        let area = try instrument(session)
        process.main.block()
        let other = process.start(process.pid + 1)
        announceExec(in: area)
        tick(session)
        #expect(session.stage.execution != nil && other.isTraced)
        let reads = other.memoryReads
        process.tell(.exiting, of: other.tid)
        session.takeChanges()
        #expect(session.threads[other.tid]?.phase == .exited)
        #expect(other.memoryReads == reads)
    }

    /// The program's own word ends it at once.
    @Test func anExecThatFails() throws {
        let session = try attached()
        let area = try instrument(session)
        process.main.block()
        announceExec(in: area)
        tick(session)
        #expect(session.stage.execution != nil)
        area.set(\.execution, UInt32(FL_EXECUTION_NONE))
        process.pass(1)
        tick(session)
        #expect(session.stage.execution == nil)
    }

    /// Nobody stays traced for it: who can be stopped without harm is, and detached; the others as
    /// soon as they can.
    @Test func threadsAreDetachedAfterAnExecThatFails() throws {
        let session = try attached()
        let area = try instrument(session)
        process.main.block()
        let fragile = process.start(process.pid + 1)
        fragile.block(in: 232)  // epoll_wait
        let running = process.start(process.pid + 2)
        announceExec(in: area)
        tick(session)
        #expect(process.main.isTraced && fragile.isTraced && running.isTraced)
        area.set(\.execution, UInt32(FL_EXECUTION_NONE))
        for _ in 1...3 {
            process.pass(1)
            tick(session)
        }
        #expect(process.main.done == [.seized, .interrupted, .detached(0)])
        #expect(!running.isTraced && running.done.contains(.detached(0)))
        #expect(fragile.done == [.seized])
        fragile.wake()
        fragile.block()
        process.pass(1)
        tick(session)
        #expect(fragile.done == [.seized, .interrupted, .detached(0)])
        let count = process.main.done.count
        process.pass(1)
        tick(session)
        #expect(process.main.done.count == count)
    }

    @Test func anExecThatWasAnnounced() throws {
        let session = try attached()
        let area = try instrument(session)
        announceExec(in: area)
        tick(session)
        process.path = "/made/second"
        process.main.message = UInt64(process.pid)
        process.main.stop()
        process.tell(.executed, of: process.pid)
        session.takeChanges()
        #expect(sink.images == ["/made/first", "/made/second"])
        #expect(session.area == nil)
        #expect(session.stage.execution == nil)
    }

    /// The thread is traced as long as one may execute a program, and is let go afterwards.
    @Test func stopsAreForAMomentOnly() throws {
        let session = try attached()
        process.main.block()
        let area = try instrument(session)
        announceExec(in: area)
        tick(session)
        process.main.stop()
        process.tell(.signal(10), of: process.pid)
        session.takeChanges()
        #expect(process.main.done.last == .resumed(10))
        // A call that a stop would end.
        process.main.wake()
        process.main.block(in: 232)
        process.pass(1001)
        tick(session)
        #expect(process.main.done.last == .resumed(10))
        process.main.stop()
        process.tell(.signal(12), of: process.pid)
        session.takeChanges()
        #expect(process.main.done.last == .detached(12))
    }

    /// Our code is in the program, at a place that is known, and a second thread is stopped to take it
    /// away.
    private func leaving() throws -> (TraceSession, Area, led: TracedThread) {
        let session = try attached()
        let area = try instrument(session)
        area.fill(Area.Contents(place: 0x7100_0000_0000, recorder: 0, cookie: 1))
        let led = process.start(process.pid + 1)
        session.addNewThreads(at: process.now)
        led.stop()
        return (session, area, try #require(session.threads[led.tid]))
    }

    /// A handler of the program's that came while our code waited returns there, perhaps much later.
    /// What our own handler has left on a stack is no matter.
    @Test(arguments: [false, true])
    func whoWillComeBackIntoOurCodeIsInIt(isThere: Bool) throws {
        let (session, area, thread) = try leaving()
        process.main.block()
        let place =
            isThere
            ? AreaCode.standIns(at: area.address).lowerBound + 7
            : area.position(Int(AreaCode.sampleHandler)) + 7
        process.main.stack = [1, place, 2].flatMap { (word: UInt64) in
            withUnsafeBytes(of: word) { Array($0) }
        }
        var others: [TracedThread] = []
        #expect(session.isAnyone(besides: thread, of: &others, in: area.range) == isThere)
    }

    /// It sleeps for a moment, again and again: found running, it may sleep a moment later. And who
    /// has just begun may be anywhere.
    @Test(arguments: [false, true]) func whoNapsInOurCodeIsInIt(hasJustBegun: Bool) throws {
        let (session, area, thread) = try leaving()
        if hasJustBegun {
            process.main.block()
            process.start(process.pid + 2)
        } else {
            process.main.programCounter = area.address + 7
            process.main.afterLook = { [process] in process.main.block(in: 35) }
        }
        var others: [TracedThread] = []
        #expect(session.isAnyone(besides: thread, of: &others, in: area.range))
    }

    // MARK: Endings

    @Test func theRecordingEndsWhileAStopIsOut() {
        let session = launched()
        process.pass(1)
        process.holdsStops = true
        tick(session)
        #expect(process.main.isStopped)
        session.leave()
        #expect(session.outcome == .running)
        #expect(sink.times().wall == .milliseconds(3))
        #expect(sink.ended == [ThreadIndex(0)])
        let told = sink.events.count
        process.releaseStops()
        session.takeChanges()
        #expect(sink.events.count == told)
    }

    /// Nobody can be led away to take our code out: it is silenced, and stays.
    @Test func ourCodeThatCannotBeTakenAway() throws {
        let session = try attached()
        let area = try instrument(session)
        process.pass(1)
        process.holdsStops = true
        session.stop(try #require(session.threads[process.pid]))
        session.leave()
        #expect(session.outcome == .running)
        #expect(area.isFiltered)
        #expect(!process.main.isStopped)
        #expect(!process.main.isTraced)
        #expect(session.result().notes.contains { $0.kind == .leftBehind })
    }

    @Test func theProcessEndsWhileOurCodeIsTakenBack() throws {
        let session = try attached()
        _ = try instrument(session)
        process.tell(.exited(status: 4), of: process.pid)
        session.leave()
        #expect(session.outcome == .exited(4))
        #expect(session.stage.image == nil)
        // What there is to tell of the end was told when the recording ended.
        #expect(sink.borders.filter { $0 == .ended }.count == 1)
        #expect(sink.ended == [ThreadIndex(0)])
    }
}
