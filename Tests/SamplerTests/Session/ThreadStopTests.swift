import CAgent
import Glibc
import ProfileModel
import Testing

@testable import ProcessIO
@testable import Sampler

/// A session on a made process: its reports, and its actions on the threads.

/// Stops that are waited for.
extension ProcessSessionTests {
    func beginThread(_ tid: Int32, _ session: ProcessSession) throws -> TracedThread {
        process.start(tid)
        process.main.message = UInt64(tid)
        process.main.stop()
        process.tell(.cloned, of: process.pid)
        process.threads[tid]?.stop()
        process.tell(.stopped, of: tid)
        session.takeChanges()
        return try #require(session.threads[tid])
    }

    /// As in vfork, whose caller waits for another process.
    @Test func aThreadThatDoesNotStopIsNotWaitedForForEver() throws {
        let session = launched()
        process.deaf = process.pid
        let main = try #require(session.threads[process.pid])
        let before = process.now
        #expect(session.parts.stopper.stopNow(main) == nil)
        #expect(process.now - before < .milliseconds(1000))
        #expect(session.outcome == nil)
    }

    /// An exec ends all other threads first, each of which stops once more: a recorder that waits
    /// for one of them has to let the others go on.
    @Test func theOthersGoOnWhileAStopIsWaitedFor() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let third = try beginThread(process.pid + 2, session)
        process.deaf = second.tid
        process.whilePaused = { [process] in
            process.threads[third.tid]?.stop()
            process.tell(.exiting, of: third.tid)
        }
        #expect(session.parts.stopper.stopNow(second) == nil)
        #expect(third.phase == .exited)
        #expect(process.threads[third.tid]?.isStopped == false)
    }

    /// It was asked to stop for a sample, and the kernel reports another stop instead.
    @Test(arguments: [TraceEvent.signal(10), .cloned, .forked])
    func anotherStopStandsForOurs(event: TraceEvent) throws {
        let session = launched()
        let main = try #require(session.threads[process.pid])
        process.deaf = process.pid
        session.parts.requests.stop(main)
        #expect(main.isInterrupted)
        process.deaf = nil
        process.tell(event, of: process.pid)
        let before = process.now
        #expect(session.parts.stopper.stopNow(main) != nil)
        #expect(process.now - before < .milliseconds(10))
    }

    /// A thread that is led through code of ours stops by itself at the call at which it is to stop.
    /// Asked to stop while it runs, it might have left that code: the stop would end a call of its own.
    @Test func aDivertedThreadStopsByItself() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let thread = try #require(process.threads[second.tid])
        second.tracing.wasSeized()
        thread.stop()
        thread.nextCall = 0x400
        let limit = process.now + .milliseconds(10)
        var calls = 0
        let isThere = session.parts.diversion.lead(second, by: limit) {
            calls += 1
            return $0 == 0x400 && calls == 3
        }
        #expect(isThere && calls == 3 && thread.isStopped)
        #expect(!thread.done.contains(.interrupted))
    }

    @Test func aDivertedThreadMayNotArrive() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let thread = try #require(process.threads[second.tid])
        second.tracing.wasSeized()
        // It gets no core.
        thread.stop()
        let limit = process.now + .milliseconds(10)
        #expect(!session.parts.diversion.lead(second, by: limit) { _ in true })
        #expect(process.now >= limit)
        #expect(!thread.done.contains(.interrupted))
        // The user stops it.
        thread.stop()
        process.tell(.groupStop(signal: SIGSTOP), of: second.tid)
        #expect(
            !session.parts.diversion.lead(second, by: process.now + .milliseconds(10)) { _ in true }
        )
        // It is gone.
        #expect(
            !session.parts.diversion.lead(second, by: process.now + .milliseconds(10)) { _ in true }
        )
    }

    /// Asked to stop where it is stopped already, it stops again as soon as it goes on.
    @Test func aDivertedThreadIsStoppedOnce() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let thread = try #require(process.threads[second.tid])
        second.tracing.beginLead()
        thread.stop()
        process.tellStop(of: second.tid)
        #expect(session.parts.stopper.stopNow(second) != nil)
        let interrupted = thread.done.filter { $0 == .interrupted }.count
        session.parts.requests.interruptAnywhere(second)
        try second.tracee.resume()
        #expect(session.parts.stopper.stopNow(second) != nil)
        #expect(thread.done.filter { $0 == .interrupted }.count == interrupted + 1)
    }

    /// It waits in a call of ours, whatever it was asked to do before.
    @Test func aDivertedThreadIsStoppedWhereverItWaits() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let thread = try #require(process.threads[second.tid])
        _ = second.tracing.seize()
        thread.isInOwnCode = false
        try second.tracing.interruptInOwnCode(each: .milliseconds(1))
        second.tracing.beginLead()
        thread.block(in: 128)
        process.deaf = second.tid
        process.whilePaused = { [process] in
            process.deaf = nil
            process.releaseStops()
        }
        #expect(session.parts.stopper.stopNow(second) != nil)
    }

    /// Another program begins when all work on this one is over.
    @Test func anExecWhileAStopIsWaitedFor() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        process.deaf = second.tid
        process.path = "/made/second"
        process.main.message = UInt64(second.tid)
        process.whilePaused = { [process] in
            process.main.stop()
            process.tell(.executed, of: process.pid)
        }
        #expect(session.parts.stopper.stopNow(second) == nil)
        #expect(sink.images == ["/made/first"])
        session.takeChanges()
        #expect(sink.images == ["/made/first", "/made/second"])
        #expect(!process.main.isStopped)
    }

    /// Code is changed only while no thread runs.
    @Test func allOrNobodyIsStopped() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let third = try beginThread(process.pid + 2, session)
        process.deaf = third.tid
        #expect(session.parts.stopper.stopOthers(than: session.threads[process.pid]) == nil)
        #expect(process.threads[second.tid]?.isStopped == false)
        process.deaf = nil
        process.releaseStops()
        #expect(session.parts.stopper.stopOthers(than: session.threads[process.pid])?.count == 2)
    }

    /// Threads that have begun since the last look are stopped, too.
    @Test func theYoungestThreadsAreStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.start(process.pid + 1)
        let main = try #require(session.threads[process.pid])
        let stopped = try #require(session.parts.stopper.stopAllOthers(than: main))
        #expect(stopped.map(\.tid) == [process.pid + 1])
        #expect(process.threads[process.pid + 1]?.isStopped == true)
    }

    // MARK: Programs that are short of cores

    /// Lets the recording end, and the time of waits pass as the test sets it.
    private func leaving(_ session: ProcessSession) {
        session.stage.leave()
    }

    private func after(_ span: TimeSpan, _ act: @escaping () -> Void) {
        let time = process.now + span
        func look() {
            if process.now >= time { act() } else { process.whilePaused = look }
        }
        process.whilePaused = look
    }

    /// It is asked to stop as soon as it has a core.
    @Test func aThreadWithoutACoreIsAwaitedAtTheEnd() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.isInOwnCode = false
        process.main.lose()
        let before = process.now
        after(.milliseconds(1500)) { [process] in process.main.comeLate() }
        _ = session.parts.diversion.stopAny(by: before + .milliseconds(2500))
        #expect(process.main.done.contains(.detached(0)))
        #expect(process.now - before >= .milliseconds(1500))
        #expect(process.now - before < .milliseconds(1700))
    }

    /// A recorder that had no core when the tenth of a second was over does not give up threads that have run.
    @Test func aThreadThatHasRunIsAwaitedAtTheEnd() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.isInOwnCode = true
        process.main.block(in: 232)  // epoll_wait
        process.main.afterLook = { [process] in
            process.main.wake()
            process.pass(150)
            process.main.block(in: 232)
        }
        let before = process.now
        after(.milliseconds(1000)) { [process] in process.main.wake() }
        _ = session.parts.diversion.stopAny(by: before + .milliseconds(2500))
        #expect(process.main.done.contains(.interruptedInOwnCode))
        #expect(process.now - before >= .milliseconds(1000))
    }

    @Test func aWaitLooksOnceMoreAtItsEnd() {
        let session = launched()
        var looks = 0
        let isSo = session.context.wait(atMost: .milliseconds(5)) {
            looks += 1
            if looks == 1 { process.pass(10) }
            return looks == 2
        }
        #expect(isSo)
    }

    /// It is not known that a stop would not end a call of its own.
    @Test func aThreadThatBlocksAllSignalsIsNotStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.blocksSignals = true
        #expect(session.parts.diversion.stopAny(by: process.now + .milliseconds(200)) == nil)
        #expect(!process.main.done.contains(.interrupted))
    }

    /// A thread at its end is not kept stopped by us.
    @Test func anEndingThreadIsNotHeld() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.blocksSignals = true
        after(.milliseconds(30)) { [process] in
            process.main.stop()
            process.tell(.exiting, of: process.pid)
        }
        _ = session.parts.diversion.stopAny(by: process.now + .milliseconds(200))
        #expect(!process.main.isStopped)
    }

    @Test func thatIsBounded() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.isInOwnCode = false
        let before = process.now
        #expect(session.parts.diversion.stopAny(by: before + .milliseconds(2500)) == nil)
        #expect(process.now - before < .milliseconds(2600))
    }

    @Test func ctrlCEndsTheWait() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.isInOwnCode = false
        let before = process.now
        after(.milliseconds(1000)) { [process] in process.isToEnd = true }
        #expect(session.parts.diversion.stopAny(by: before + .milliseconds(2500)) == nil)
        #expect(process.now - before >= .milliseconds(1000))
        #expect(process.now - before < .milliseconds(1050))
    }

    /// It would wait for as long when it had a core.
    @Test func aThreadInAnEndableCallIsNotAwaited() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.block(in: 232)
        let before = process.now
        #expect(session.parts.diversion.stopAny(by: before + .milliseconds(2500)) == nil)
        #expect(process.now - before < .milliseconds(150))
    }

    /// A thread that cannot be diverted is not stopped for as long as others are waited for.
    @Test func anUndivertibleThreadIsReleasedSoon() throws {
        let session = try attached()
        _ = try instrument(session)
        leaving(session)
        process.main.isInOwnCode = true
        let starved = process.start(process.pid + 1)
        starved.isInOwnCode = false
        session.parts.discovery.addNewThreads(at: process.now)
        let before = process.now
        #expect(session.parts.diversion.stopAny(by: before + .milliseconds(2500)) == nil)
        #expect(process.now - before > .milliseconds(2400))
        #expect(process.main.done.filter { $0 == .interruptedInOwnCode }.count < 20)
    }

    /// Each may have to wait for a core, and threads that have stopped stay stopped in the
    /// meantime.
    @Test func allAreAskedToStopAtOnce() throws {
        let session = try attached()
        _ = try instrument(session)
        for number in 1...3 {
            let thread = process.start(process.pid + Int32(number))
            thread.isInOwnCode = false
        }
        process.main.isInOwnCode = false
        session.parts.discovery.addNewThreads(at: process.now)
        let before = process.now
        after(.milliseconds(200)) { [process] in
            for thread in process.threads.values { thread.comeLate() }
        }
        let stopped = try #require(session.parts.stopper.stopOthers(than: nil))
        #expect(stopped.count == 4)
        #expect(process.now - before < .milliseconds(201))
        #expect(process.threads.values.allSatisfy { $0.isStopped })
        for thread in stopped { session.parts.resumption.release(thread) }
        #expect(!process.threads.values.contains { $0.isTraced })
    }

    /// If one thread does not stop, no other stays stopped for it.
    @Test func stoppedThreadsGoOnWithoutTheOthers() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        for number in 1...3 {
            process.start(process.pid + Int32(number)).isInOwnCode = false
        }
        session.parts.discovery.addNewThreads(at: process.now)
        after(.milliseconds(20)) { [process] in
            for thread in process.threads.values where thread.tid != process.pid + 2 {
                thread.comeLate()
            }
        }
        #expect(session.parts.stopper.stopOthers(than: nil) == nil)
        #expect(!process.threads.values.contains { $0.isStopped })
        #expect(!session.threads.values.contains { $0.tracing.isHeld })
    }

    // MARK: Stops in a thread's own code

    @Test func aRunningThreadIsStoppedInItsOwnCode() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = true
        session.parts.requests.stop(try #require(session.threads[process.pid]))
        #expect(process.main.done == [.seized, .interruptedInOwnCode])
        session.takeChanges()
        // The signal was ours: it is not delivered.
        #expect(process.main.done.last == .detached(0))
        #expect(session.threads[process.pid]?.phase == .free)
    }

    /// By stops alone, too, once it was seen waiting in a call that a stop ends: it may enter the
    /// next one before the stop comes.
    @Test(arguments: [(Int32(202), false), (426, true)])  // futex, io_uring_enter
    func aThreadWithEndableCallsIsStoppedInItsOwnCode(call: Int32, isInOwnCode: Bool) {
        let session = launched()
        process.main.isInOwnCode = true
        process.pass(1)
        process.main.block(in: call)
        tick(session)
        process.main.wake()
        // Nothing is asked about its first look then.
        for _ in 0..<2 {
            process.pass(1)
            tick(session)
        }
        #expect(process.main.done.contains(.interruptedInOwnCode) == isInOwnCode)
        #expect(process.main.done.contains(.interrupted) == !isInOwnCode)
        #expect(process.main.done.last == .resumed(0))
        #expect(session.threads[process.pid]?.phase == .free)
    }

    /// It has begun to wait since the look that found it at work.
    @Test func aThreadInAnEndableCallIsNotStoppedWithPtraceAlone() throws {
        let session = launched()
        process.main.block(in: 426)
        session.parts.requests.stop(try #require(session.threads[process.pid]))
        #expect(!process.main.done.contains(.interrupted))
    }

    /// A call that it is in would end early.
    @Test func aThreadInTheKernelIsNotStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        let main = try #require(session.threads[process.pid])
        session.parts.requests.stop(main)
        process.pass(50)
        tick(session)
        let first = try #require(main.tracing.interruption)
        #expect(main.isInterrupted && !first.isCalledOff)
        process.pass(1)
        tick(session)
        #expect(first.isCalledOff && main.isUnsampled)
        #expect(!process.main.done.contains(.interrupted) && !process.main.isStopped)
        // It may have been about to come: even so it is no signal of the program's.
        process.main.comeLate()
        session.takeChanges()
        #expect(process.main.done.last == .detached(0))
    }

    /// The waiting recorder learns that there will be no stop, or stops the thread where it waits.
    @Test(arguments: [(Int32(232), false), (Int32(202), true)])
    func aThreadThatBeginsToWait(call: Int32, isStopped: Bool) throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        process.whilePaused = { [process] in process.main.block(in: call) }
        let before = process.now
        let position = session.parts.stopper.stopNow(try #require(session.threads[process.pid]))
        #expect((position != nil) == isStopped)
        #expect(process.main.done.contains(.interrupted) == isStopped)
        #expect(process.now - before < .milliseconds(10))
        #expect(session.threads[process.pid]?.phase == .free)
    }

    /// It shows as one that waits in no call.
    @Test func aThreadThatHasJustStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        process.whilePaused = { [process] in
            process.main.block(in: -1)
            process.whilePaused = { process.main.comeLate() }
        }
        let main = try #require(session.threads[process.pid])
        #expect(session.parts.stopper.stopNow(main) != nil)
        #expect(!process.main.done.contains(.interrupted))
    }

    /// Between the look that chose it and the stop it went to wait in a call that a stop ends.
    @Test func aThreadThatHasEnteredAnEndableCallIsNotStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.block(in: 232)
        session.parts.requests.stop(try #require(session.threads[process.pid]))
        #expect(process.main.done == [.seized])
        #expect(session.threads[process.pid]?.phase == .free)
    }

    /// The event that was to stop it must not send its signal when no recorder is there to remove
    /// it.
    @Test(arguments: [TraceEvent.signal(10), .cloned, .forked])
    func aThreadStoppedForAnotherReasonGetsNoLateSignal(event: TraceEvent) throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        let main = try #require(session.threads[process.pid])
        session.parts.requests.stop(main)
        let interruption = try #require(main.tracing.interruption)
        process.main.stop()
        process.tell(event, of: process.pid)
        session.takeChanges()
        #expect(interruption.isCalledOff)
        #expect(!process.main.isTraced && main.tracing.interruption == nil)
    }

    /// It is there already: then it is waited for.
    @Test func aSignalOfOursThatIsOnItsWayIsTakenAway() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        session.parts.requests.stop(try #require(session.threads[process.pid]))
        process.main.sendStop()
        process.main.stop()
        process.tell(.signal(10), of: process.pid)
        session.takeChanges()
        #expect(process.main.done.last == .resumed(10))
        #expect(process.main.isTraced)
        process.main.comeLate()
        session.takeChanges()
        #expect(process.main.done.last == .detached(0))
        #expect(!process.main.isTraced)
    }

    /// The user has stopped it: it must not go on for that.
    @Test func aThreadStoppedByTheUserStaysStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        session.parts.requests.stop(try #require(session.threads[process.pid]))
        process.main.sendStop()
        process.main.stop()
        process.tell(.groupStop(signal: 19), of: process.pid)
        session.takeChanges()
        #expect(process.main.done.last == .listened)
    }

    /// A second event would not know the first one's signal for ours.
    @Test func aStopThatWasCalledOffTooLateStandsForTheNext() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        let main = try #require(session.threads[process.pid])
        session.parts.requests.stop(main)
        process.main.sendStop()
        process.pass(51)
        tick(session)
        #expect(main.tracing.interruption?.isCalledOff == true)
        session.parts.requests.stop(main)
        #expect(main.isInterrupted)
        #expect(process.main.done == [.seized, .interruptedInOwnCode])
        process.main.comeLate()
        session.takeChanges()
        #expect(process.main.done.last == .detached(0))
    }

    @Test(arguments: [false, true]) func theRecordingEndsWhileAStopInOwnCodeIsOut(
        isOnItsWay: Bool
    ) throws {
        let session = try attached()
        process.main.isInOwnCode = false
        let main = try #require(session.threads[process.pid])
        session.parts.requests.stop(main)
        let interruption = try #require(main.tracing.interruption)
        if isOnItsWay {
            process.main.sendStop()
            after(.milliseconds(700)) { [process] in process.main.comeLate() }
        }
        session.leave()
        #expect(interruption.isCalledOff)
        #expect(process.main.done.last == (isOnItsWay ? .detached(0) : .interruptedInOwnCode))
        #expect(session.outcome == .running)
    }
}
