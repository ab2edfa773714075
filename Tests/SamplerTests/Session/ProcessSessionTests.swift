import Agent
import CAgent
import Glibc
import ProfileModel
import Testing

@testable import ProcessIO
@testable import Sampler

/// A session on a made process: its reports, and its actions on the threads.
@Suite struct ProcessSessionTests {
    let process = MadeProcess()
    let sink = RecordingSink()

    private func options(_ capture: CaptureMethod) -> SamplerOptions {
        var options = SamplerOptions(capture: capture)
        options.asksScheduler = false
        return options
    }

    /// Traced, at its first instruction, and released.
    func launched() -> ProcessSession {
        let session = ProcessSession(process, options: options(.ptrace), sink: sink)
        let main = TracedThread(
            process.thread(process.pid), index: ThreadIndex(0), start: process.now, isNew: false)
        process.pass(2)
        process.main.stop()
        session.parts.beginnings.beginLaunch(
            StartedProcess(
                image: Image(path: "/asked/for", arguments: ["for"], time: process.now),
                main: main, firstInstruction: process.now, area: nil, ignoresSampleSignal: false,
                hasOtherClocks: false, sites: nil, schedule: nil))
        return session
    }

    /// Traced only for stops.
    func attached() throws -> ProcessSession {
        let session = ProcessSession(process, options: options(.untraced), sink: sink)
        try session.parts.beginnings.beginAttached {}
        return session
    }

    func tick(_ session: ProcessSession) {
        session.tick(at: process.now, missed: 0)
        session.takeChanges()
    }

    // MARK: Launches

    @Test func aLaunchBegins() {
        let session = launched()
        #expect(sink.borders == [.spawned, .firstInstruction])
        #expect(sink.started == [process.pid])
        #expect(sink.images == ["/made/first"])
        #expect(process.main.done == [.resumed(0)])
        #expect(session.stage.image?.path == "/made/first")
    }

    /// A program that is over already cannot be read any more.
    @Test func aLaunchThatIsOverAtOnceHasItsName() {
        process.path = ""
        let session = launched()
        #expect(sink.images == ["/asked/for"])
        #expect(session.stage.image?.path == "/asked/for")
    }

    @Test func aProcessThatEndsAsItIsAttachedToHasItsName() throws {
        let session = ProcessSession(process, options: options(.untraced), sink: sink)
        try session.parts.beginnings.beginAttached { process.path = "" }
        #expect(sink.images == ["/made/first"])
        #expect(session.stage.image?.path == "/made/first")
    }

    @Test func aProcessThatBecomesAnotherAsItIsAttachedToHasThatName() throws {
        let session = ProcessSession(process, options: options(.untraced), sink: sink)
        try session.parts.beginnings.beginAttached { process.path = "/made/second" }
        #expect(sink.images == ["/made/second"])
    }

    /// Between two looks one thread ends and another begins: their number stays the same.
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

    /// The scheduler tells when a sleeper goes on. Until then it is seldom asked, and its wait goes on.
    @Test func aSleepingThreadIsSeldomLookedAt() throws {
        let session = try attached()
        session.stage.settle()
        let thread = try #require(session.threads[process.pid])
        process.pass(1)
        process.main.block()
        let left = process.now
        process.pass(1)
        tick(session)
        thread.saw(SchedulerRecord(left, process.pid, .left(.waiting, core: 0)))
        process.pass(1)
        tick(session)
        let asked = process.main.asked
        for _ in 0..<64 {
            process.pass(1)
            tick(session)
        }
        #expect(process.main.asked == asked + 2)
        process.main.wake()
        thread.saw(SchedulerRecord(process.now, process.pid, .arrived(core: 0)))
        process.pass(1)
        process.main.block()
        thread.saw(SchedulerRecord(process.now, process.pid, .left(.waiting, core: 0)))
        process.pass(1)
        tick(session)
        #expect(process.main.asked > asked)
        #expect(sink.times().blocked == .milliseconds(67))
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

    /// A tracer has to acknowledge a thread's end before the thread is gone; otherwise a thread
    /// that has joined it would still find it there. The first thread reports how the process
    /// ended.
    @Test func threadsEndUntraced() throws {
        let session = launched()
        let tid = process.pid + 1
        let other = process.start(tid)
        process.pass(1)
        _ = session.parts.discovery.adopt(tid, at: process.now)
        let thread = try #require(session.threads[tid])
        thread.tracing.wasSeized()
        other.stop()
        process.tell(.exiting, of: tid)
        session.takeChanges()
        #expect(thread.phase == .exited && !thread.tracing.isTraced)
        #expect(other.done.last == .detached(0))
        process.remove(tid)
        // Its number belongs to another thread.
        _ = process.start(tid)
        let next = try #require(session.parts.discovery.adopt(tid, at: process.now))
        #expect(next !== thread && next.phase == .free)
        process.main.stop()
        process.tell(.exiting, of: process.pid)
        session.takeChanges()
        #expect(process.main.done.last == .resumed(0))
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

    /// A thread that is traced for a stop creates it, so it is traced, too.
    @Test func aThreadThatIsSeenBeforeItsFirstStop() throws {
        let session = try attached()
        _ = try instrument(session)
        let thread = process.start(process.pid + 1)
        process.program.threadLinks = 4
        tick(session)
        #expect(session.threads[process.pid + 1]?.tracing.isTraced == false)
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

    /// Alone, calls outlast neither a stop by the user nor its end.
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
        // Later events do not matter.
        let told = sink.events.count
        tick(session)
        #expect(sink.events.count == told)
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

    /// Our code finds no place in a process without memory: stacks are taken by stops. While it is
    /// tried again no thread stays traced, as each of its signals would be a stop.
    @Test func ourCodeThatCannotBeBroughtIn() throws {
        let session = try attached()
        process.pass(1)
        tick(session)
        #expect(process.main.done == [.seized, .interrupted, .detached(0)])
        #expect(sink.samples().last?.kind == "snapshot")
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

    /// Processes that an attached program has started may be long over.
    @Test(arguments: [true, false]) func processesThatWereNotRecorded(areThere: Bool) throws {
        let session = launched()
        process.childrenFaults = areThere ? 308 : 0
        session.leave()
        let note = session.result().notes.first { $0.kind == .unrecordedChildren }
        #expect(note?.value == (areThere ? 308 : nil))
        let other = try attached()
        other.leave()
        #expect(!other.result().notes.contains { $0.kind == .unrecordedChildren })
    }

    /// No thread can be diverted to remove our code: it is silenced, and stays.
    @Test func ourCodeThatCannotBeTakenAway() throws {
        let session = try attached()
        let area = try instrument(session)
        process.pass(1)
        process.holdsStops = true
        session.parts.requests.stop(try #require(session.threads[process.pid]))
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
        // The end was already reported when the recording ended.
        #expect(sink.borders.filter { $0 == .ended }.count == 1)
        #expect(sink.ended == [ThreadIndex(0)])
    }
}
