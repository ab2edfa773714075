import CAgent
import ProfileModel
import Testing

@testable import Sampler

/// A session on a made process: what it tells, and what it does to the threads.

/// Stops that are waited for.
extension TraceSessionTests {
    private func beginThread(_ tid: Int32, _ session: TraceSession) throws -> TracedThread {
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
        #expect(session.stopNow(main) == nil)
        #expect(process.now - before < .milliseconds(1000))
        #expect(session.outcome == nil)
    }

    /// An exec ends all other threads first, each of which stops once more: whoever waits for one
    /// of them has to let the others go on.
    @Test func theOthersGoOnWhileAStopIsWaitedFor() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let third = try beginThread(process.pid + 2, session)
        process.deaf = second.tid
        process.whilePaused = { [process] in
            process.threads[third.tid]?.stop()
            process.tell(.exiting, of: third.tid)
        }
        #expect(session.stopNow(second) == nil)
        #expect(third.phase == .exited)
        #expect(process.threads[third.tid]?.isStopped == false)
    }

    /// It was asked to stop for a sample, and the kernel lets another stop stand for that.
    @Test(arguments: [TraceEvent.signal(10), .cloned, .forked])
    func anotherStopStandsForOurs(event: TraceEvent) throws {
        let session = launched()
        let main = try #require(session.threads[process.pid])
        process.deaf = process.pid
        session.stop(main)
        #expect(main.isInterrupted)
        process.deaf = nil
        process.tell(event, of: process.pid)
        let before = process.now
        #expect(session.stopNow(main) != nil)
        #expect(process.now - before < .milliseconds(10))
    }

    /// Another program begins when nothing is being done to this one any more.
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
        #expect(session.stopNow(second) == nil)
        #expect(sink.images == ["/made/first"])
        session.takeChanges()
        #expect(sink.images == ["/made/first", "/made/second"])
        #expect(!process.main.isStopped)
    }

    /// Code is changed only while nobody runs.
    @Test func allOrNobodyIsStopped() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let third = try beginThread(process.pid + 2, session)
        process.deaf = third.tid
        #expect(session.stopOthers(than: session.threads[process.pid]) == nil)
        #expect(process.threads[second.tid]?.isStopped == false)
        process.deaf = nil
        process.releaseStops()
        #expect(session.stopOthers(than: session.threads[process.pid])?.count == 2)
    }

    /// Those that have begun since the last look are stopped, too.
    @Test func theYoungestThreadsAreStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.start(process.pid + 1)
        let main = try #require(session.threads[process.pid])
        let stopped = try #require(session.stopAllOthers(than: main))
        #expect(stopped.map(\.tid) == [process.pid + 1])
        #expect(process.threads[process.pid + 1]?.isStopped == true)
    }

    // MARK: Stops in a thread's own code

    @Test func whoRunsIsStoppedInItsOwnCode() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = true
        session.stop(try #require(session.threads[process.pid]))
        #expect(process.main.done == [.seized, .interruptedInOwnCode])
        session.takeChanges()
        // The signal was ours: it is not delivered.
        #expect(process.main.done.last == .detached(0))
        #expect(session.threads[process.pid]?.phase == .free)
    }

    /// By stops alone, too, once it was seen waiting in a call that a stop ends: it may enter the
    /// next one before the stop comes.
    @Test(arguments: [(Int32(202), false), (426, true)])  // futex, io_uring_enter
    func whoWaitsInCallsThatEndIsStoppedInItsOwnCode(call: Int32, isInOwnCode: Bool) {
        let session = launched()
        process.main.isInOwnCode = true
        process.pass(1)
        process.main.block(in: call)
        tick(session)
        process.main.wake()
        // Of its first look nothing is asked then.
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
    @Test func whoWaitsInACallThatEndsIsNotStoppedByStopsAlone() throws {
        let session = launched()
        process.main.block(in: 426)
        session.stop(try #require(session.threads[process.pid]))
        #expect(!process.main.done.contains(.interrupted))
    }

    /// A call that it is in would end early.
    @Test func whoStaysInTheKernelIsLeftAlone() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        let main = try #require(session.threads[process.pid])
        session.stop(main)
        process.pass(50)
        tick(session)
        let first = try #require(main.interruption)
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

    /// Whoever waits for the stop learns that there will be none, or stops it where it waits.
    @Test(arguments: [(Int32(232), false), (Int32(202), true)])
    func whoBeginsToWaitMeanwhile(call: Int32, isStopped: Bool) throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        process.whilePaused = { [process] in process.main.block(in: call) }
        let before = process.now
        let position = session.stopNow(try #require(session.threads[process.pid]))
        #expect((position != nil) == isStopped)
        #expect(process.main.done.contains(.interrupted) == isStopped)
        #expect(process.now - before < .milliseconds(10))
        #expect(session.threads[process.pid]?.phase == .free)
    }

    /// It shows as one that waits in no call.
    @Test func whoHasJustStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.isInOwnCode = false
        process.whilePaused = { [process] in
            process.main.block(in: -1)
            process.whilePaused = { process.main.comeLate() }
        }
        let main = try #require(session.threads[process.pid])
        #expect(session.stopNow(main) != nil)
        #expect(!process.main.done.contains(.interrupted))
    }

    /// Between the look that chose it and the stop it went to wait in a call that a stop ends.
    @Test func whoWaitsInACallThatEndsIsNotStopped() throws {
        let session = try attached()
        _ = try instrument(session)
        process.main.block(in: 232)
        session.stop(try #require(session.threads[process.pid]))
        #expect(process.main.done == [.seized])
        #expect(session.threads[process.pid]?.phase == .free)
    }
}
