import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Which waits of a thread are one finding.
@Suite struct WaitGroupTests {
    private let look = WaitReason(.sleep, detail: "futex, time-out after 150 ms")

    /// The main thread waits three times at one place: for two threads, and until a time-out.
    private func findings(_ first: String, _ second: String, _ look: WaitReason) -> [Finding] {
        var launch = FindingLaunch()
        launch.builder.recording.header.account = .wakeups
        for (name, tid, start) in [(first, 11, 200), (second, 12, 300)] as [(String, Int32, Int64)]
        {
            let worker = launch.worker(name, tid: tid)
            launch.wait(WaitReason(.condition), from: start, to: start + 60, call: 202)
            launch.compute(worker, "register", from: start, to: start + 60)
            launch.builder.wakeup(of: launch.main, at: start + 60, by: worker)
        }
        launch.wait(look, from: 400, to: 550, call: 202)
        return launch.findings
    }

    @Test func threadsOfOneNameThatAreWaitedForInTurn() throws {
        let found = findings("pool", "pool", look)
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.kind == .threadWait)
        #expect(finding.saving == .milliseconds(270))
        guard case .wait(let wait) = finding.subject else {
            Issue.record("no wait")
            return
        }
        #expect(wait.count == 3 && wait.counterparts == 2)
        #expect(wait.counterpart != nil)
    }

    @Test func threadsOfOtherNamesAreOtherCauses() {
        let found = findings("reader", "writer", look)
        #expect(found.map(\.kind) == [.threadWait, .threadWait])
        #expect(found.map(\.saving).sorted() == [.milliseconds(60), .milliseconds(210)])
    }

    @Test func aLengthOfSleepIsNoLookForAThread() {
        let found = findings("pool", "pool", WaitReason(.sleep, detail: "nanosleep 150 ms"))
        #expect(Set(found.map(\.kind)) == [.threadWait, .sleep])
    }

    // MARK: Polls that timed out

    private func kinds(
        _ detail: String, outcome: Recording.Outcome = .exited(0), isReadyKnown: Bool = false
    ) -> [Finding.Kind] {
        var launch = FindingLaunch()
        launch.builder.recording.header.outcome = outcome
        launch.wait(WaitReason(.poll, detail: detail), from: 200, to: 400, call: 7)
        if isReadyKnown { launch.builder.ready("notify", at: 500) }
        return launch.findings.map(\.kind)
    }

    /// Nothing happened until the program's own time limit was over.
    @Test func anEventLoopSleepsUntilItsTimer() {
        let timer = "2 descriptors: eventfd, pipe, time-out after 200 ms"
        #expect(kinds(timer) == [.sleep])
        #expect(kinds(timer, outcome: .running, isReadyKnown: true) == [.sleep])
        // It is not known whether the launch was over already.
        #expect(kinds(timer, outcome: .running).isEmpty)
        // Events that came in time, and clients that did not come.
        #expect(kinds("2 descriptors: eventfd, pipe").isEmpty)
        #expect(kinds("1 descriptor: socket listening on [::]:80, time-out after 200 ms").isEmpty)
        // asyncio's own pair of sockets has no names.
        #expect(kinds("1 descriptor: socket, time-out after 200 ms") == [.sleep])
    }

    @Test func anUnknownPeerIsNamed() {
        let server = "1 descriptor: socket 10.0.0.2:53, time-out after 200 ms"
        #expect(kinds(server) == [.networkWait])
        let display = "2 descriptors: eventfd, socket /run/bus, time-out after 200 ms"
        #expect(kinds(display).isEmpty && kinds(display, isReadyKnown: true) == [.pollWait])
    }
}
