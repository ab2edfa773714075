import CAgent
import Glibc
import ProfileModel
import Testing

@testable import Agent
@testable import ProcessIO
@testable import Sampler

/// A process whose program becomes another.
extension ProcessSessionTests {
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
        #expect(sink.borders == [.spawned, .firstInstruction, .firstInstruction])
        #expect(process.main.done.suffix(2) == [.reopened, .resumed(0)])
    }

    /// As in `exec sudo`: the kernel gives no privileges to a traced process. The process may be
    /// over before it can be reported.
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

    /// The first thread's id then belongs to another thread, which has used less.
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
        // It is past its first instruction.
        #expect(sink.borders == [.attached, .attached])
        #expect(session.stage.isSettling)
        #expect(session.result().notes.contains { $0.kind == .lateExec })
        #expect(!process.main.isStopped)
    }

    /// The first thread was being stopped for its stack just then.
    @Test func anExecThatWasNoticedLateByAStop() throws {
        let session = try attached()
        process.pass(1)
        process.holdsStops = true
        session.parts.requests.stop(try #require(session.threads[process.pid]))
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

    /// The kernel reports any other stop instead of the one in the next image, which does not come
    /// any more.
    @Test(arguments: [TraceEvent.signal(10), .cloned, .forked])
    func anExecThatWasNoticedLateByAnotherStop(event: TraceEvent) throws {
        let session = try attached()
        process.pass(1)
        process.deaf = process.pid
        session.parts.requests.stop(try #require(session.threads[process.pid]))
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

    /// A thread was diverted to install our code, and gets no core.
    private func leadAway(_ session: ProcessSession) throws -> RunningImage {
        let image = try #require(session.stage.image)
        image.entry = PendingEntry(
            tid: process.pid, since: process.now, descriptor: 3,
            contents: AgentMemory.Contents(place: 0x7000_0000, recorder: 0, cookie: 1),
            sites: .unknown,
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
        session.parts.requests.stop(try #require(session.threads[process.pid]))
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

    /// A thread that waits all the time needs none of our code; a running one does.
    @Test(arguments: [false, true]) func noThreadCouldBeDiverted(waits: Bool) throws {
        let session = try attached()
        if waits { process.main.block(in: 232) }
        session.leave()
        #expect(session.result().notes.contains { $0.kind == .lateEntry } == !waits)
    }

    /// Its registers were requested when it still waited at the same place.
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
        session.parts.requests.refine(refinement)
        #expect(process.main.done == before)
    }

    // MARK: Execs that are announced

    /// As if our code were in it. Nothing of it is ever called.
    func instrument(_ session: ProcessSession) throws -> AgentMemory {
        let area = try #require(AgentMemory(stackBytes: 4096))
        let image = try #require(session.stage.image)
        session.stage.settle()
        image.untraced = ProcPoller(process.program)
        image.instrumentation = Instrumentation(
            area, Instrumentation.Setup(),
            hooks: Hooks(area: area, signposts: area.makeSignposts(pid: 1, since: process.now)),
            signals: SignalCapture(
                pid: process.pid, slots: SharedSlots(area: area, cookie: 1), stackBytes: 4096))
        return area
    }

    private func announceExec(in area: AgentMemory) {
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

    /// The kernel drops a signal if one like it is already pending, and queued signals beyond
    /// RLIMIT_SIGPENDING: no answer will come, and none may be waited for.
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
        thread.requests.answer(in: slot)
        #expect(slots.request(slot, stack: 0..<0, limit: 64, masks: 0) == .ready)
        slots.wasSent()
        process.main.pendingSignals = isPending ? 1 << 22 : 1 << 21
        for _ in 1...5 {
            process.main.lose()
            process.main.wake()
            _ = signals.followRequest(of: thread, try #require(thread.counters()))
        }
        #expect(signals.isUnderWay(thread) == isPending)
        let outstanding = AgentSignalTests.outstanding(area)
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

    /// The program's own report ends it at once.
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

    /// No thread stays traced for it: a thread that can be stopped without harm is stopped and
    /// detached; the others are as soon as they can be.
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

    /// The thread is traced as long as one may execute a program, and is released afterwards.
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
    private func leaving() throws -> (ProcessSession, AgentMemory, led: TracedThread) {
        let session = try attached()
        let area = try instrument(session)
        area.fill(AgentMemory.Contents(place: 0x7100_0000_0000, recorder: 0, cookie: 1))
        let led = process.start(process.pid + 1)
        session.parts.discovery.addNewThreads(at: process.now)
        led.stop()
        return (session, area, try #require(session.threads[led.tid]))
    }

    /// A handler of the program's that came while our code waited returns there, perhaps much
    /// later. Remains of our own handler on a stack do not matter.
    @Test(arguments: [false, true])
    func aThreadThatReturnsIntoOurCodeIsInIt(isThere: Bool) throws {
        let (session, area, thread) = try leaving()
        process.main.block()
        let place =
            isThere
            ? AgentCode.standIns(at: area.address).lowerBound + 7
            : area.position(Int(AgentCode.sampleHandler)) + 7
        process.main.stack = [1, place, 2].flatMap { (word: UInt64) in
            withUnsafeBytes(of: word) { Array($0) }
        }
        var others: [TracedThread] = []
        #expect(
            session.parts.earlierAgents.lookForAnyone(besides: thread, of: &others, in: area.range)
                == isThere)
    }

    /// It sleeps briefly, again and again: a running thread may be asleep a moment later. And a
    /// thread that has just begun may be anywhere.
    @Test(arguments: [false, true]) func aThreadThatSleepsInOurCodeIsInIt(hasJustBegun: Bool) throws
    {
        let (session, area, thread) = try leaving()
        if hasJustBegun {
            process.main.block()
            process.start(process.pid + 2)
        } else {
            process.main.programCounter = area.address + 7
            process.main.afterLook = { [process] in process.main.block(in: 35) }
        }
        var others: [TracedThread] = []
        #expect(
            session.parts.earlierAgents.lookForAnyone(besides: thread, of: &others, in: area.range))
    }
}
