import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// The main thread's waits; the threads that it waits for; priorities.
@Suite struct WaitFindingTests {
    private typealias Spot = RecordingBuilder.Spot

    @Test(
        arguments: [
            (.lock, nil, .lockWait), (.condition, nil, .threadWait), (.sleep, nil, .sleep),
            (.file, "/etc/x", .fileWait), (.ioUring, nil, .fileWait), (.disk, nil, .diskWait),
            (.child, "git log", .childWait), (.pipe, nil, .pipeWait),
            (.socket, "127.0.0.1:80", .networkWait), (.socket, nil, .networkWait),
            (.poll, "1 descriptor: socket 10.0.0.2:53", .networkWait),
            // A program that waits for clients, for people, or for any next event is ready.
            (.socket, "listening on 127.0.0.1:80", nil), (.terminal, "/dev/pts/0", nil),
            (.poll, "2 descriptors: pipe, eventfd", nil), (.poll, nil, nil),
            (.poll, "1 descriptor: socket /tmp/.X11-unix/X0", nil),
            (.poll, "1 descriptor: socket listening", nil), (.signal, nil, nil),
            (.other, nil, nil),
        ] as [(WaitReason.Kind, String?, Finding.Kind?)])
    func kinds(reason: WaitReason.Kind, detail: String?, kind: Finding.Kind?) {
        var launch = FindingLaunch()
        launch.wait(WaitReason(reason, detail: detail), from: 200, to: 400, call: 1)
        #expect(launch.findings.map(\.kind) == (kind.map { [$0] } ?? []))
    }

    /// The main thread waits for one that waits itself.
    private func awaited(
        _ reason: WaitReason, for main: WaitReason = WaitReason(.condition),
        until end: Int64 = 400, account: SchedulerAccount? = .wakeups
    ) -> [Finding] {
        var launch = FindingLaunch()
        launch.builder.recording.header.account = account
        let worker = launch.worker()
        launch.wait(main, from: 200, to: 500, call: 1)
        launch.wait(reason, by: worker, from: 200, to: end, in: "license")
        launch.compute(worker, "report", from: end, to: 500)
        launch.builder.wakeup(of: launch.main, at: 500, by: worker)
        return launch.findings
    }

    @Test func theWaitOfAnAwaitedThreadIsTheFinding() throws {
        for (reason, kind) in [
            (WaitReason(.sleep, detail: "nanosleep 40 ms"), Finding.Kind.sleep),
            (WaitReason(.poll, detail: "3 descriptors: pipe"), .pollWait),
            (WaitReason(.file, detail: "/etc/x"), .fileWait),
        ] {
            let findings = awaited(reason)
            let first = try #require(findings.first)
            #expect(first.kind == kind && first.thread == 1)
            #expect(first.saving == .milliseconds(200))
            // The main thread also waits for that thread's other work.
            #expect(findings.dropFirst().map(\.kind) == [.threadWait])
            #expect(findings.last?.saving == .milliseconds(100))
        }
        // Too short, or a step on the way to another thread.
        #expect(awaited(WaitReason(.sleep), until: 204).map(\.kind) == [.threadWait])
        #expect(awaited(WaitReason(.lock)).map(\.kind) == [.threadWait])
        // A wait for a lock names the holder.
        let held = awaited(
            WaitReason(.sleep), for: WaitReason(.lock, detail: "mutex", owner: 8))
        #expect(held.map(\.kind) == [.lockWait])
        // Without wake-ups the waker is unknown.
        #expect(awaited(WaitReason(.sleep), account: .switches).map(\.kind) == [.threadWait])
    }

    // MARK: Waits of less than a millisecond

    /// Fifty milliseconds of waiting in as many slices that ran as long, or as often.
    private func shortWaits(
        in function: String, running: Int64 = 1, isAttached: Bool = false, held: Int64 = 0,
        notes: [RecorderNote] = []
    ) -> [Finding] {
        var launch = FindingLaunch(attached: isAttached)
        launch.builder.recording.header.heldByProfiler = .milliseconds(held)
        launch.builder.recording.notes = notes
        let stack = launch.builder.stack(
            FindingLaunch.entry + [
                Spot("save", file: "/src/save.c", line: 4), Spot(function, FindingLaunch.libc),
            ])
        for index in 0..<50 as Range<Int64> {
            launch.builder.slice(
                launch.main, at: 200 + 4 * index, running: running, blocked: 1, stack)
        }
        return launch.findings.filter { $0.kind == .shortWaits }
    }

    @Test func manyShortWaitsAreOneFinding() throws {
        let finding = try #require(shortWaits(in: "fdatasync").first)
        #expect(finding.saving == .milliseconds(50))
        // The innermost function is the C library's: the one that calls it is the place.
        #expect(finding.stack.count == FindingLaunch.entry.count + 1)
        guard case .shortWaits(let call?) = finding.subject else {
            Issue.record("no call")
            return
        }
        #expect(!finding.stack.contains(call))
    }

    /// A slice in which a thread computes for a millisecond may have several, together longer than one. The
    /// scheduler tells them apart.
    @Test(arguments: [true, false]) func severalInOneSlice(areTold: Bool) throws {
        var launch = FindingLaunch()
        let stack = launch.builder.stack(
            FindingLaunch.entry + [
                Spot("save", file: "/src/save.c", line: 4), Spot("fsync", FindingLaunch.libc),
            ])
        for index in 0..<25 as Range<Int64> {
            launch.builder.slice(launch.main, at: 200 + 4 * index, running: 2, blocked: 2, stack)
        }
        let half = TimeSpan(nanoseconds: 500_000)
        var time = RecordingBuilder.at(200)
        for _ in 0..<100 where areTold {
            for state in [ThreadState.running, .blocked] {
                launch.builder.recording.runs.append(
                    ScheduledRun(
                        thread: launch.main, start: time, end: time + half, state: state,
                        core: state == .running ? 0 : nil))
                time = time + half
            }
        }
        let found = launch.findings.filter { $0.kind == .shortWaits }
        #expect(found.map(\.saving) == (areTold ? [.milliseconds(50)] : []))
    }

    @Test func aLittleWaitingIsNone() {
        #expect(shortWaits(in: "fdatasync", running: 3).count == 1)
        #expect(shortWaits(in: "fdatasync", running: 12).isEmpty)
        // An event loop waits for any next event, and so does a program that runs already.
        #expect(shortWaits(in: "epoll_wait").isEmpty && shortWaits(in: "__poll").isEmpty)
        #expect(shortWaits(in: "read", isAttached: true).isEmpty)
        // The recorder's own stops look like this.
        #expect(shortWaits(in: "read", held: 51).isEmpty)
        #expect(shortWaits(in: "read", held: 50).count == 1)
        // The scheduler's account has gaps.
        #expect(shortWaits(in: "read", notes: [RecorderNote(.lostSwitches, 7)]).isEmpty)
    }

    @Test func whoseLaunchIsKnownToBeOverMustNotPollBefore() {
        var launch = FindingLaunch()
        launch.wait(WaitReason(.poll), from: 200, to: 400, call: 7)
        launch.builder.ready("notify", at: 500)
        #expect(launch.findings.map(\.kind) == [.pollWait])
    }

    /// A program that reads a child's output and errors waits for that child; an event loop's own pipe is none.
    @Test(arguments: [
        ("2 descriptors: pipe, pipe", false, true), ("1 descriptor: pipe", false, true),
        ("2 descriptors: pipe, eventfd", false, false),
        ("5 descriptors: pipe, pipe, pipe, …", false, false),
        ("1 descriptor: pipe", true, false),
    ])
    func pipesThatAreLookedAt(detail: String, byOwn: Bool, isFound: Bool) {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.poll, detail: detail), from: 200, to: 400, call: 7)
        launch.builder.wakeup(of: launch.main, at: 400, by: byOwn ? worker : nil)
        #expect(launch.findings.map(\.kind) == (isFound ? [.pipeWait] : []))
    }

    /// A lock is nothing that a program waits for all day.
    @Test func aLockUntilTheEnd() {
        var launch = FindingLaunch()
        launch.wait(WaitReason(.lock, detail: "/run/app.lock"), from: 200, to: 1000, call: 73)
        #expect(launch.findings.map(\.kind) == [.lockWait])
    }

    /// It may be what the program does all day.
    @Test func aWaitThatOutlastsTheRecordingIsNone() {
        var launch = FindingLaunch()
        launch.wait(WaitReason(.socket), from: 200, to: 1000, call: 45)
        #expect(launch.findings.isEmpty)
    }

    @Test func otherThreadsWaitsAreTheirs() {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.sleep), by: worker, from: 200, to: 400)
        #expect(launch.findings.isEmpty)
    }

    @Test func withoutAStackThereIsNoEvidence() {
        var launch = FindingLaunch()
        launch.wait(WaitReason(.sleep), from: 200, to: 400)
        launch.builder.recording.waits[0].stack = nil
        #expect(launch.findings.isEmpty)
    }

    @Test func pagesFromTheDiskAreOneFinding() {
        var launch = FindingLaunch()
        launch.wait(WaitReason(.disk), from: 200, to: 212, in: "one", call: -1)
        launch.wait(WaitReason(.disk), from: 300, to: 315, in: "two", call: -1)
        #expect(launch.findings.map(\.saving) == [.milliseconds(27)])
        #expect(launch.findings.map(launch.profile.name) == ["two"])
    }

    /// The disk announces its pages by an interrupt.
    @Test func aPageFaultThatAThreadEnds() {
        func found(by worker: Bool, isInterrupt: Bool = false) -> [Finding.Kind] {
            var launch = FindingLaunch()
            let other = launch.worker()
            launch.wait(WaitReason(.disk), from: 200, to: 300, in: "one", call: -1)
            launch.builder.wakeup(
                of: launch.main, at: 300, by: worker ? other : nil, isInterrupt: isInterrupt)
            return launch.findings.map(\.kind)
        }
        #expect(found(by: true) == [.threadWait])
        #expect(found(by: true, isInterrupt: true) == [.diskWait])
        #expect(found(by: false) == [.diskWait])
    }

    /// A call that changes the mappings waits for other threads only because of that lock.
    @Test func aCallThatMapsMemory() {
        func reason(call: Int32, by worker: Bool) -> WaitReason? {
            var launch = FindingLaunch()
            let other = launch.worker()
            launch.wait(WaitReason(.other), from: 200, to: 300, in: "one", call: call)
            launch.builder.wakeup(of: launch.main, at: 300, by: worker ? other : nil)
            return launch.profile.waits.first?.reason
        }
        #expect(reason(call: 11, by: true) == .addressSpace)
        #expect(reason(call: 11, by: false)?.detail == "munmap")
        #expect(reason(call: 16, by: true)?.detail == "ioctl")
    }

    @Test func withoutOwnCodeThePlaceIsOutsideOfTheCLibrary() {
        var launch = FindingLaunch()
        let stack = launch.builder.stack([
            Spot("main", "/usr/bin/tool"), Spot("fetch", "/usr/lib/libcurl.so.4"),
            Spot("recv", FindingLaunch.libc),
        ])
        launch.builder.recording.waits.append(
            Wait(
                thread: launch.main, start: RecordingBuilder.at(200),
                end: RecordingBuilder.at(300), reason: WaitReason(.socket), systemCall: 45,
                stack: stack))
        #expect(launch.findings.map(launch.profile.name) == ["fetch"])
    }

    /// Functions without names say nothing: the first caller with one does.
    @Test func thePlaceHasAName() {
        func place(_ spots: [Spot]) -> String? {
            var launch = FindingLaunch()
            let stack = launch.builder.stack(spots)
            launch.builder.recording.waits.append(
                Wait(
                    thread: launch.main, start: RecordingBuilder.at(200),
                    end: RecordingBuilder.at(300), reason: WaitReason(.socket), systemCall: 45,
                    stack: stack))
            return launch.findings.first.map(launch.profile.name)
        }
        let mesa = "/usr/lib/libGLX_mesa.so.0"
        #expect(
            place([
                Spot("main", "/usr/bin/tool"), Spot("glXQuery", "/usr/lib/libGLX.so.0"),
                Spot(nil, mesa), Spot(nil, mesa), Spot("recv", FindingLaunch.libc),
            ]) == "glXQuery")
        // Of a program without any, a place without a name is better than the C library.
        let bare = place([
            Spot("__libc_start_main", FindingLaunch.libc), Spot(nil, "/usr/bin/dash"),
            Spot("recv", FindingLaunch.libc),
        ])
        #expect(bare?.hasPrefix("dash+0x") == true)
    }

    // MARK: Locks for ever

    private func deadlock(owner: Int32 = 8, other: Int32 = 7, end: Int64 = 1000) -> FindingLaunch {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.lock, detail: "mutex", owner: owner), from: 200, to: 1000)
        launch.wait(
            WaitReason(.lock, detail: "mutex", owner: other), by: worker, from: 300, to: end)
        return launch
    }

    @Test func aCircleOfOwnersIsADeadlock() throws {
        let found = deadlock().findings
        #expect(found.map(\.kind) == [.deadlock, .lockWait])
        guard case .deadlock(let evidence) = try #require(found.first).subject else { return }
        #expect(evidence.members.map(\.thread) == [0, 1])
        #expect(evidence.members.allSatisfy { !$0.stack.isEmpty })
        // Before both waited, one of them only waited for a lock.
        #expect(found.map(\.saving) == [.milliseconds(700), .milliseconds(100)])
    }

    @Test func withoutACircleThereIsNone() {
        #expect(deadlock(end: 900).findings.map(\.kind) == [.lockWait])
        #expect(deadlock(other: 9).findings.map(\.kind) == [.lockWait])
        #expect(deadlock(owner: 9).findings.map(\.kind) == [.lockWait])
        // No thread waits for itself.
        #expect(deadlock(owner: 7, other: 8).findings.map(\.kind) == [.lockWait])
    }

    @Test func goParksItsThreads() {
        var launch = FindingLaunch()
        launch.wait(
            WaitReason(.sleep, detail: "futex, time-out after 200 ms"), from: 200, to: 400,
            in: "runtime.futexsleep")
        #expect(launch.findings.isEmpty)
    }

    // MARK: Counterparts

    private func counterpart(_ launch: FindingLaunch) -> Counterpart? {
        switch launch.findings.first?.subject {
        case .wait(let evidence): evidence.counterpart
        case .priorityInversion(_, let other): other
        default: nil
        }
    }

    @Test func aLocksOwnerIsNamedWithWhatItDid() throws {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.lock, detail: "mutex", owner: 8), from: 200, to: 300)
        launch.compute(worker, "hold", from: 200, to: 280)
        launch.wait(WaitReason(.file), by: worker, from: 280, to: 300, in: "read", call: 0)
        let other = try #require(counterpart(launch))
        #expect(other.thread == worker.rawValue && other.basis == .owner)
        #expect(other.times.running == .milliseconds(80))
        #expect(other.times.blocked == .milliseconds(20))
        let names = other.stack.map { launch.profile.frames.function(of: $0).name }
        #expect(names == ["_start", "__libc_start_main", "main", "hold"])
        // For a fifth of the time it was elsewhere.
        #expect(other.place.map { launch.profile.frames.function(of: $0).name } == "main")
        #expect(other.lowerPriority == nil)
    }

    @Test func aWakerIsNamedAsSuch() throws {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.condition), from: 200, to: 300)
        launch.builder.recording.wakeups = [
            Wakeup(
                thread: launch.main, time: RecordingBuilder.at(300), waker: 8, wakerName: "worker",
                wakerThread: worker, isInterrupt: false)
        ]
        #expect(counterpart(launch)?.basis == .waker)
        #expect(counterpart(launch)?.thread == worker.rawValue)
    }

    /// The purpose of a plain futex is not known; it is enough that a thread of the process ended
    /// the wait.
    @Test func aFutexThatAnotherThreadEnded() {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.other, place: 0x1234), from: 200, to: 300)
        #expect(launch.findings.isEmpty)
        launch.builder.wakeup(of: launch.main, at: 300, by: worker)
        #expect(launch.findings.map(\.kind) == [.threadWait])
        #expect(counterpart(launch)?.basis == .waker)
        #expect(counterpart(launch)?.thread == worker.rawValue)
    }

    @Test func aFutexThatNobodyOfTheProcessEnded() {
        var launch = FindingLaunch()
        _ = launch.worker()
        launch.wait(WaitReason(.other, place: 0x1234), from: 200, to: 300)
        launch.builder.wakeup(of: launch.main, at: 300, by: nil)
        #expect(launch.findings.isEmpty)
    }

    /// Go's scheduler parks threads, and the goroutine goes on elsewhere.
    @Test func threadsOfGosScheduler() {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(
            WaitReason(.other, place: 0x1234), from: 200, to: 300, in: "runtime.futexsleep")
        launch.builder.wakeup(of: launch.main, at: 300, by: worker)
        #expect(launch.findings.isEmpty)
    }

    /// Each awaited command is kept with its time.
    @Test func eachCommandHasItsTime() throws {
        var launch = FindingLaunch()
        launch.wait(WaitReason(.child, detail: "git log"), from: 200, to: 230, call: 61)
        launch.wait(WaitReason(.child, detail: "ls"), from: 300, to: 400, call: 61)
        launch.wait(WaitReason(.child, detail: "git log"), from: 500, to: 530, call: 61)
        guard case .wait(let wait) = try #require(launch.findings.first).subject else { return }
        #expect(wait.things == ["git log", "ls"])
        #expect(wait.lengths == [.milliseconds(60), .milliseconds(100)])
    }

    @Test func theOnlyOneThatWorkedIsPresumed() {
        for (share, isPresumed) in [(49, false), (50, true)] as [(Int64, Bool)] {
            var launch = FindingLaunch()
            let worker = launch.worker()
            launch.wait(WaitReason(.condition), from: 200, to: 300)
            launch.compute(worker, "work", from: 200, to: 200 + share)
            #expect(counterpart(launch)?.basis == (isPresumed ? .presumed : nil))
        }
    }

    @Test func ofTwoThatWorkedNeitherIsPresumed() {
        var launch = FindingLaunch()
        let workers = [launch.worker(), launch.worker(tid: 9)]
        launch.wait(WaitReason(.condition), from: 200, to: 300)
        for worker in workers { launch.compute(worker, "work", from: 200, to: 300) }
        #expect(launch.findings.map(\.kind) == [.threadWait])
        #expect(counterpart(launch) == nil)
    }

    /// An owner that is not a thread of the program is not replaced by a guess.
    @Test func aKnownOwnerIsNotReplacedByAGuess() {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.lock, owner: 4711), from: 200, to: 300)
        launch.compute(worker, "work", from: 200, to: 300)
        #expect(launch.findings.map(\.kind) == [.lockWait])
        #expect(counterpart(launch) == nil)
    }

    // MARK: Priorities

    /// The main thread waits for 100 ms for a worker that has no core for `lacked` of them.
    private func inversion(
        lacked: Int64, nice: Int32 = 19, mainNice: Int32? = 0, waiting: FindingLaunch? = nil
    ) -> FindingLaunch {
        var launch = FindingLaunch()
        let worker = launch.worker()
        launch.wait(WaitReason(.lock, owner: 8), from: 200, to: 300)
        let stack = launch.builder.stack("start", "hold")
        launch.builder.slice(
            worker, at: 200, running: 100 - lacked, runnable: lacked / 2,
            preempted: lacked - lacked / 2, stack)
        if let mainNice { launch.priority(launch.main, nice: mainNice) }
        launch.priority(worker, nice: nice)
        return launch
    }

    @Test func aThreadOfLowerPriorityWithoutACoreIsAnInversion() throws {
        let launch = inversion(lacked: 40)
        let finding = try #require(launch.findings.first)
        #expect(finding.kind == .priorityInversion && finding.saving == .milliseconds(100))
        let other = try #require(counterpart(launch))
        #expect(other.lacked == .milliseconds(40))
        #expect(other.lowerPriority?.own.nice == 19 && other.lowerPriority?.waiting.nice == 0)
        #expect(
            other.stack.map { launch.profile.frames.function(of: $0).name } == ["start", "hold"])
        // A function that only passes the work on is skipped.
        #expect(other.place.map { launch.profile.frames.function(of: $0).name } == "hold")
    }

    @Test func itIsNoneWhereItDidNoHarm() {
        #expect(inversion(lacked: 10).findings.map(\.kind) == [.priorityInversion])
        // The wait was long for another reason.
        #expect(inversion(lacked: 9).findings.map(\.kind) == [.lockWait])
        #expect(inversion(lacked: 0).findings.map(\.kind) == [.lockWait])
        // That the priority is lower is still told.
        #expect(counterpart(inversion(lacked: 9))?.lowerPriority != nil)
    }

    @Test func itIsNoneWithoutALowerPriority() {
        #expect(inversion(lacked: 40, nice: 0).findings.map(\.kind) == [.lockWait])
        #expect(inversion(lacked: 40, nice: -5).findings.map(\.kind) == [.lockWait])
        #expect(inversion(lacked: 40, mainNice: nil).findings.map(\.kind) == [.lockWait])
    }

    @Test func amongOtherThreadsTheLossIsAtStake() {
        for (lacked, isFound) in [(19, false), (20, true)] as [(Int64, Bool)] {
            var launch = FindingLaunch()
            let (worker, low) = (launch.worker(), launch.worker(tid: 9))
            launch.wait(WaitReason(.lock, owner: 9), by: worker, from: 200, to: 300)
            launch.run(
                low, at: 200, running: 100 - lacked, preempted: lacked, in: [Spot("hold")])
            launch.priority(worker, policy: 1, nice: 0, rt: 50)
            launch.priority(low, nice: 0)
            let found = launch.findings
            #expect(found.map(\.saving) == (isFound ? [.milliseconds(lacked)] : []))
            #expect(found.allSatisfy { $0.kind == .priorityInversion && $0.thread == 1 })
        }
    }

    /// Above all thresholds for findings, but a small part of the wait.
    @Test func amongOtherThreadsTheLossIsAPartOfTheWait() {
        for (lacked, isFound) in [(29, false), (30, true)] as [(Int64, Bool)] {
            var launch = FindingLaunch()
            let (worker, low) = (launch.worker(), launch.worker(tid: 9))
            launch.wait(WaitReason(.lock, owner: 9), by: worker, from: 200, to: 500)
            launch.run(
                low, at: 200, running: 300 - lacked, preempted: lacked, in: [Spot("hold")])
            launch.priority(worker, nice: 0)
            launch.priority(low, nice: 19)
            #expect(launch.findings.map(\.kind) == (isFound ? [.priorityInversion] : []))
        }
    }

    @Test func prioritiesInOrder() {
        func figures(_ policy: Int32, nice: Int32 = 0, rt: Int32 = 0) -> PriorityFigures {
            PriorityFigures(thread: 0, time: .zero, policy: policy, nice: nice, realTime: rt)
        }
        let rising = [
            figures(5), figures(0, nice: 19), figures(3, nice: 5), figures(0), figures(0, nice: -1),
            figures(1, rt: 1), figures(2, rt: 99), figures(6),
        ]
        for (left, low) in rising.enumerated() {
            for (right, high) in rising.enumerated() {
                #expect(low.isLower(than: high) == (left < right))
            }
            // Unknown policies are not compared.
            #expect(!low.isLower(than: figures(42)) && !figures(42).isLower(than: low))
        }
    }
}
