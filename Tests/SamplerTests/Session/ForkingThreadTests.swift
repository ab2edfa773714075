import Testing

@testable import Sampler

/// Stops of threads that fork: a child that ends while its parent is stopped would end other threads'
/// waits.
extension ProcessSessionTests {
    @Test func aForkingThreadIsNotStoppedForASample() throws {
        let session = launched()
        let main = try #require(session.threads[process.pid])
        process.main.childIDs = "77 "
        session.parts.requests.stopForSample(main)
        #expect(main.isInterrupted, "It has no other threads.")
        let second = try beginThread(process.pid + 1, session)
        process.threads[second.tid]?.childIDs = "78 "
        session.parts.requests.stopForSample(second)
        #expect(!second.isInterrupted && second.isUnsampled)
        process.threads[second.tid]?.childIDs = ""
        process.pass(1001)
        session.parts.requests.stopForSample(second)
        #expect(second.isInterrupted)
    }

    /// But where all threads have to be stopped, it counts like any other, and no sample is left
    /// out.
    @Test func aForkingThreadIsStoppedWithAllOthers() throws {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        process.threads[second.tid]?.childIDs = "78 "
        let stopped = try #require(session.parts.stopper.stopOthers(than: nil))
        #expect(stopped.contains { $0.tid == second.tid })
        #expect(!second.isUnsampled)
    }

    /// And then, if possible, while none of its children can end; it may have begun to fork since
    /// it was looked at.
    @Test(arguments: [true, false]) func aForkingThreadIsStoppedBetweenChildren(isKnown: Bool)
        throws
    {
        let session = launched()
        let second = try beginThread(process.pid + 1, session)
        let thread = try #require(process.threads[second.tid])
        if isKnown { thread.childIDs = "78 " }
        thread.whenStopped = { if !isKnown { thread.childIDs = "78 " } }
        var (isFree, wasAsked) = (false, false)
        process.whilePaused = {
            // Once, it was stopped beside its child, and released.
            isFree = isFree || !thread.isStopped
            wasAsked = thread.done.contains(.interrupted)
            thread.whenStopped = nil
            thread.childIDs = ""
        }
        let stopped = try #require(session.parts.stopper.stopOthers(than: nil))
        #expect(isFree && wasAsked != isKnown)
        #expect(stopped.contains { $0.tid == second.tid } && thread.isStopped)
    }

    /// In a program that runs already it is not known which threads fork, if any has done so.
    @Test(arguments: [true, false]) func noStopBeforeForkingThreadsAreKnown(
        hasHadChildren: Bool
    ) throws {
        process.childrenFaults = hasHadChildren ? 1 : 0
        let second = process.start(process.pid + 1)
        let session = try attached()
        let thread = try #require(session.threads[second.tid])
        for _ in 1...16 {
            #expect(session.parts.harm.mayHarmOthers(thread) == hasHadChildren)
            tick(session)
        }
        #expect(!session.parts.harm.mayHarmOthers(thread))
    }
}
