import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import ProcessIO

/// What the scheduler reports of a thread of ours, where the kernel permits that.
@Suite struct SchedulerReaderTests {
    private static let isPermitted = (try? ThreadSwitches(first: OwnSignposts.thread)) != nil

    /// The thread that starts another reports it, so the process's threads need not be listed again and
    /// again.
    @Test(
        .enabled(if: isPermitted || isContinuousIntegration, "perf events are not permitted here"))
    func aNewThreadIsReported() throws {
        var switches = try ThreadSwitches(first: OwnSignposts.thread)
        _ = switches.read()
        #expect(!switches.mayHaveNewThreads)
        let before = MonotonicTime.now
        let thread = try #require(JobThread {})
        thread.join()
        _ = switches.read()
        #expect(switches.mayHaveNewThreads)
        #expect(switches.reading.time >= before && switches.reading.time <= .now)
    }
}
