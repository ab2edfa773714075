import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct ThreadMaskTests {
    private static let blocked: UInt64 = 0x400000
    private static let open: UInt64 = 0

    private func status(
        _ blocked: UInt64, voluntary: Int64, forced: Int64 = 0
    ) throws -> ThreadStatus {
        let text = """
            SigBlk:\t\(String(blocked, radix: 16))
            Seccomp:\t0
            voluntary_ctxt_switches:\t\(voluntary)
            nonvoluntary_ctxt_switches:\t\(forced)

            """
        return try #require(ThreadStatus(ProcText(Array(text.utf8))))
    }

    /// The thread waited in sigwait with all signals blocked, was woken, and has no core yet: its
    /// status shows the signals that it waits for as not blocked.
    @Test func aThreadThatIsWokenFromSigwait() throws {
        var mask = ThreadMask()
        // Twice: a thread that has not waited since the last look does not necessarily run.
        for _ in 0..<3 {
            mask.saw(try status(Self.open, voluntary: 5, forced: 1), timeslices: 6)
            #expect(!mask.isOwn)
        }
        // It has a core.
        mask.saw(try status(Self.blocked, voluntary: 5, forced: 1), timeslices: 7)
        #expect(mask.isOwn)
        // And in the next sigwait.
        mask.saw(try status(Self.open, voluntary: 6, forced: 1), timeslices: 7)
        #expect(!mask.isOwn)
        mask.saw(try status(Self.blocked, voluntary: 6, forced: 2), timeslices: 8)
        #expect(mask.isOwn)
    }

    /// We have the only core while we look: the thread never has one then. But it had one since it
    /// waited.
    @Test func aThreadThatIsNeverSeenOnItsCore() throws {
        var mask = ThreadMask()
        mask.saw(try status(Self.open, voluntary: 3, forced: 10), timeslices: 13)
        #expect(!mask.isOwn)
        mask.saw(try status(Self.open, voluntary: 3, forced: 11), timeslices: 14)
        #expect(mask.isOwn)
        // It is woken with the mask that is known to be its own.
        mask.saw(try status(Self.open, voluntary: 4, forced: 11), timeslices: 15)
        #expect(mask.isOwn)
    }

    @Test func onItsCore() throws {
        var mask = ThreadMask()
        mask.saw(try status(Self.open, voluntary: 0), timeslices: 1)
        #expect(mask.isOwn)
        mask.forget()
        #expect(!mask.isOwn)
    }

    /// Where the kernel does not count, nothing is known, and nothing was known before.
    @Test func withoutCounts() throws {
        var mask = ThreadMask()
        mask.saw(try status(Self.open, voluntary: 0), timeslices: 0)
        #expect(mask.isOwn)
    }

    /// Asleep in any other call, its mask is its own; the mask with which it is woken is known
    /// then.
    @Test func asleep() throws {
        var mask = ThreadMask()
        mask.sawAsleep(try status(Self.open, voluntary: 4, forced: 1), in: 128)
        mask.sawAsleep(try status(Self.open, voluntary: 4, forced: 1), in: 271)
        #expect(!mask.isOwn)
        mask.sawAsleep(try status(Self.open, voluntary: 4, forced: 1), in: 202)
        #expect(mask.isOwn)
        mask.saw(try status(Self.open, voluntary: 9, forced: 1), timeslices: 10)
        #expect(mask.isOwn)
        mask.saw(try status(Self.blocked, voluntary: 9, forced: 1), timeslices: 10)
        #expect(!mask.isOwn)
    }
}
