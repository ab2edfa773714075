import Analysis
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

@Suite struct CriticalPathTests {
    private var builder = RecordingBuilder(images: [("/home/dev/app", 0)])
    private let main: ThreadIndex

    init() {
        builder.border(.spawned, 0)
        builder.border(.main, 10)
        builder.border(.ended, 100)
        main = builder.thread("app", tid: 100, to: 100, isMain: true)
    }

    /// "app running 0-20 0", the last being the depth.
    private func path(
        _ recording: Recording, minDuration: TimeSpan = TimeSpan(nanoseconds: 1)
    ) -> [String] {
        let profile = Profile(recording)
        let path = profile.criticalPath(minDuration: minDuration)
        return path.segments.map { segment in
            let state = segment.state.map { "\($0)" } ?? "unknown"
            let (start, end) = (segment.start.nanoseconds, segment.end.nanoseconds)
            return "\(profile.threads[segment.thread].name) \(state) "
                + "\(start / 1_000_000)-\(end / 1_000_000) \(segment.depth)"
        }
    }

    @Test func onlyTheMainThread() {
        var builder = builder
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 50), (.runnable, until: 52),
            (.running, until: 100))
        builder.wakeup(of: main, at: 50, by: nil)
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "app blocked 20-50 0", "app running 50-100 0",
            ])
    }

    /// The main thread waits for B, which waits for C meanwhile.
    @Test func aChain() {
        var builder = builder
        let b = builder.thread("B", tid: 101, to: 100)
        let c = builder.thread("C", tid: 102, to: 100)
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 80), (.running, until: 100))
        builder.runs(
            b, from: 0, (.blocked, until: 10), (.running, until: 30), (.blocked, until: 60),
            (.running, until: 90))
        builder.runs(c, from: 0, (.blocked, until: 5), (.running, until: 70))
        builder.wakeup(of: main, at: 80, by: b)
        builder.wakeup(of: b, at: 60, by: c)
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "B running 20-30 1", "C running 30-60 2",
                "B running 60-80 1", "app running 80-100 0",
            ])
        let segments = Profile(builder.recording).criticalPath(minDuration: .zero).segments
        #expect(segments.map(\.wakeup?.waker) == [nil, nil, nil, 102, 101])
    }

    /// The waker's work before the wait began is not on the path.
    @Test func aWaitEndsWhereItBegan() {
        var builder = builder
        let b = builder.thread("B", tid: 101, to: 100)
        builder.runs(
            main, from: 0, (.running, until: 40), (.blocked, until: 60), (.running, until: 100))
        // It had waited itself since before that, for an interrupt.
        builder.runs(
            b, from: 0, (.running, until: 30), (.blocked, until: 50), (.running, until: 90))
        builder.wakeup(of: main, at: 60, by: b)
        builder.wakeup(of: b, at: 50, by: main, isInterrupt: true)
        #expect(
            path(builder.recording) == [
                "app running 0-40 0", "B blocked 40-50 1", "B running 50-60 1",
                "app running 60-100 0",
            ])
    }

    @Test func aNewThreadsWayIsItsMakers() {
        var builder = builder
        let b = builder.thread("B", tid: 101, from: 30, to: 100)
        let c = builder.thread("C", tid: 102, to: 100)
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 80), (.running, until: 100))
        builder.runs(c, from: 0, (.running, until: 90))
        builder.runs(b, from: 30, (.runnable, until: 33), (.running, until: 90))
        builder.wakeup(of: b, at: 30, by: c)
        builder.wakeup(of: main, at: 80, by: b)
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "C running 20-30 1", "B running 30-80 1",
                "app running 80-100 0",
            ])
    }

    @Test(arguments: [0, 1, 2]) func wakersThatCannotBeFollowed(which: Int) {
        var builder = builder
        let b = builder.thread("B", tid: 101, to: 100)
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 80), (.running, until: 100))
        switch which {
        case 0:
            builder.runs(b, from: 0, (.running, until: 100))
            builder.wakeup(of: main, at: 80, by: b, isInterrupt: true)
        case 1:
            // Blocked itself: that cannot be.
            builder.runs(b, from: 0, (.blocked, until: 100))
            builder.wakeup(of: main, at: 80, by: b)
        default:
            // Nothing is known of it.
            builder.wakeup(of: main, at: 80, by: b)
        }
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "app blocked 20-80 0", "app running 80-100 0",
            ])
    }

    @Test func itEndsWhereTheProgramWasReady() {
        var builder = builder
        builder.runs(main, from: 0, (.running, until: 100))
        builder.ready("listen", at: 60)
        #expect(path(builder.recording) == ["app running 0-60 0"])
    }

    /// Samples say how long each state took in a slice, and not when.
    @Test func samplesWhereTheSchedulerIsSilent() {
        var builder = builder
        let stack = builder.stack("main", "work")
        builder.slice(main, at: 0, running: 10, stack)
        builder.slice(main, at: 10, running: 15, runnable: 1, preempted: 4, blocked: 20, stack)
        builder.slice(main, at: 50, running: 10, stack)
        #expect(
            path(builder.recording) == [
                "app running 0-10 0", "app blocked 10-30 0", "app running 30-60 0",
                "app unknown 60-100 0",
            ])
        let segments = Profile(builder.recording).criticalPath(minDuration: .zero).segments
        #expect(segments.map(\.times.running.nanoseconds) == [10, 0, 25, 0].map { $0 * 1_000_000 })
        #expect(segments.map(\.stack.count) == [2, 2, 2, 0])
        #expect(Profile(builder.recording).criticalPath(minDuration: .zero).account == nil)
    }

    @Test func gapsInTheAccount() {
        var builder = builder
        builder.runs(main, from: 0, (.running, until: 20))
        builder.runs(main, from: 60, (.running, until: 90))
        builder.slice(main, at: 30, running: 10, builder.stack("main"))
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "app unknown 20-30 0", "app running 30-40 0",
                "app unknown 40-60 0", "app running 60-90 0", "app unknown 90-100 0",
            ])
    }

    @Test func shortStretchesBecomeOne() throws {
        var builder = builder
        let b = builder.thread("B", tid: 101, to: 100)
        var time: Int64 = 0
        while time < 90 {
            builder.runs(main, from: time, (.running, until: time + 1), (.blocked, until: time + 3))
            builder.runs(b, from: time, (.blocked, until: time + 1), (.running, until: time + 3))
            builder.wakeup(of: main, at: time + 3, by: b)
            builder.wakeup(of: b, at: time + 1, by: main)
            time += 3
        }
        builder.runs(main, from: 90, (.running, until: 100))
        #expect(
            path(builder.recording, minDuration: .milliseconds(5)) == [
                "B running 0-90 0", "app running 90-100 0",
            ])
        let short = try #require(
            Profile(builder.recording).criticalPath(minDuration: .milliseconds(5)).segments.first)
        #expect(short.stretches == 60)
        #expect(short.times == StateTimes(running: .milliseconds(90)))
    }

    @Test func reasonsOfWaits() {
        var builder = builder
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 80), (.running, until: 100))
        func wait(_ start: Int64, _ end: Int64, _ kind: WaitReason.Kind) -> Wait {
            Wait(
                thread: main, start: RecordingBuilder.at(start), end: RecordingBuilder.at(end),
                reason: WaitReason(kind), systemCall: 0)
        }
        builder.recording.waits = [wait(1, 2, .sleep), wait(19, 25, .pipe), wait(25, 81, .file)]
        let segments = Profile(builder.recording).criticalPath(minDuration: .zero).segments
        #expect(segments.map(\.reason?.kind) == [nil, .file, nil])
    }

    @Test func withoutAMainThread() {
        var builder = RecordingBuilder()
        builder.border(.spawned, 0)
        builder.border(.ended, 10)
        #expect(path(builder.recording).isEmpty)
    }

    /// With any file: the segments follow each other, from the beginning to the end.
    @Test(arguments: 1...150) func anythingAtAll(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var recording = RecordingBuilder.random(seed: seed)
        func time() -> MonotonicTime {
            let far = Int.random(in: 0..<50, using: &random) == 0
            let value = far ? Int64.random(in: .min ... .max, using: &random) : 0
            return MonotonicTime(
                nanoseconds: far
                    ? value
                    : RecordingBuilder.origin
                        + 1_000_000 * Int64.random(in: -20...120, using: &random))
        }
        func thread() -> ThreadIndex {
            ThreadIndex(Int.random(in: -1...recording.threads.count, using: &random))
        }
        for _ in 0..<200 {
            let run = ScheduledRun(
                thread: thread(), start: time(), end: time(),
                state: ThreadState.allCases.randomElement(using: &random) ?? .running)
            recording.runs.append(run)
            recording.wakeups.append(
                Wakeup(
                    thread: thread(), time: Bool.random(using: &random) ? run.end : time(),
                    waker: 5, wakerName: "", wakerThread: thread(),
                    isInterrupt: Int.random(in: 0..<4, using: &random) == 0))
        }
        recording.header.account = .wakeups
        let profile = Profile(recording)
        for least in [0, 1, 5] as [Int64] {
            var end = TimeSpan.zero
            for segment in profile.criticalPath(minDuration: .milliseconds(least)).segments {
                #expect(segment.start == end && segment.duration > .zero)
                #expect(segment.times.wall <= segment.duration)
                end = segment.end
            }
            #expect(end == profile.launch.wall)
        }
    }

    // MARK: Several processes

    /// The first process waits for the end of a child from 20 to 80, and then for that of another.
    private func tree(owners: Bool) -> RecordingBuilder {
        var builder = builder
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 50), (.running, until: 60),
            (.blocked, until: 90), (.running, until: 100))
        for (index, (pid, start, end)) in [(201, 15, 49), (202, 10, 89)].enumerated() {
            builder.recording.children.append(
                ChildProcess(
                    pid: Int32(pid), parent: 100, name: "c\(pid)",
                    start: RecordingBuilder.at(Int64(start)),
                    end: RecordingBuilder.at(Int64(end)), outcome: .exited(0)))
            let thread = builder.thread(
                "c\(pid)", tid: Int32(pid), from: Int64(start), to: Int64(end), isMain: true)
            builder.recording.threads[thread.rawValue].child = ChildIndex(index)
            builder.runs(thread, from: Int64(start), (.running, until: Int64(end)))
        }
        for (pid, start, end) in [(201, 20, 50), (202, 60, 90)] {
            builder.recording.waits.append(
                Wait(
                    thread: main, start: RecordingBuilder.at(Int64(start)),
                    end: RecordingBuilder.at(Int64(end)),
                    reason: WaitReason(.child, owner: owners ? Int32(pid) : nil),
                    systemCall: 61))
        }
        return builder
    }

    private static let pathOfTree = [
        "app running 0-20 0", "c201 running 20-49 1", "c201 unknown 49-50 1",
        "app running 50-60 0", "c202 running 60-89 1", "c202 unknown 89-90 1",
        "app running 90-100 0",
    ]

    /// The wake-up at the end comes from the child itself, its tracer, or is missing.
    @Test(arguments: [true, false], ["child", "tracer", "nobody"])
    func aWaitForAProcessLeadsThere(owners: Bool, teller: String) {
        var builder = tree(owners: owners)
        for (time, child) in [(50, ThreadIndex(1)), (90, ThreadIndex(2))] where teller != "nobody" {
            builder.wakeup(of: main, at: Int64(time), by: child)
            guard teller == "tracer" else { continue }
            let last = builder.recording.wakeups.count - 1
            builder.recording.wakeups[last].wakerThread = nil
            builder.recording.wakeups[last].waker = 7
        }
        #expect(path(builder.recording) == Self.pathOfTree)
        let profile = Profile(builder.recording)
        #expect(profile.threads.filter(\.isMain).count == 1)
        guard owners else { return }
        #expect(profile.waits.map(\.endedBy?.tid) == [201, 202])
    }

    /// A wait for any child ends with the one that ends, and not with another a moment later.
    @Test func aWaitForAnyChildEndsWithTheNearest() {
        var builder = tree(owners: false)
        builder.recording.waits.remove(at: 0)
        builder.recording.waits[0].start = RecordingBuilder.at(20)
        builder.recording.children[0].end = RecordingBuilder.at(91)
        builder.recording.threads[1].end = RecordingBuilder.at(91)
        builder.recording.runs.edit { runs in
            runs.removeAll { $0.thread == main || $0.thread == ThreadIndex(1) }
        }
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 89), (.running, until: 100))
        builder.runs(ThreadIndex(1), from: 15, (.running, until: 91))
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "c202 running 20-89 1", "app running 89-100 0",
            ])
        // But a child that reports its end itself is a surer sign than any time.
        builder.wakeup(of: main, at: 89, by: ThreadIndex(1))
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "c201 running 20-89 1", "app running 89-100 0",
            ])
    }

    /// A look that comes late takes two waits for one.
    @Test func aWaitMaySeemLongerThanItWas() {
        var builder = tree(owners: true)
        builder.recording.waits[0].end = RecordingBuilder.at(58)
        builder.recording.waits[1].end = RecordingBuilder.at(98)
        #expect(path(builder.recording) == Self.pathOfTree)
    }

    /// What a thread did between two looks is in no order: it was pushed off its core after the wait.
    @Test func aWaitMaySeemShorterThanItWas() {
        var builder = tree(owners: true)
        builder.recording.waits[0].end = RecordingBuilder.at(42)
        builder.recording.waits[1].end = RecordingBuilder.at(65)
        #expect(path(builder.recording) == Self.pathOfTree)
    }

    /// While one child is waited for, the end of another one is a signal, and the wait goes on.
    @Test func aWaitIsForTheSameChildWhenItIsInterrupted() {
        var builder = tree(owners: true)
        builder.recording.runs.edit { runs in runs.removeAll { $0.thread == main } }
        builder.runs(
            main, from: 0, (.running, until: 20), (.blocked, until: 50), (.running, until: 51),
            (.blocked, until: 90), (.running, until: 100))
        builder.recording.waits[0].reason = WaitReason(.child, owner: 202)
        builder.recording.waits[1].start = RecordingBuilder.at(51)
        #expect(
            path(builder.recording) == [
                "app running 0-20 0", "c202 running 20-50 1", "app running 50-51 0",
                "c202 running 51-89 1", "c202 unknown 89-90 1", "app running 90-100 0",
            ])
    }

    /// Before its first moment, a child's path is that of the process that forked it.
    @Test func beforeItsForkThePathIsItsParents() {
        var builder = tree(owners: true)
        // It waited for the second child from before its fork on.
        builder.recording.waits[1].start = RecordingBuilder.at(5)
        builder.recording.runs.edit { runs in runs.removeAll { $0.thread == main } }
        builder.runs(
            main, from: 0, (.running, until: 5), (.blocked, until: 90), (.running, until: 100))
        builder.recording.waits.remove(at: 0)
        #expect(
            path(builder.recording) == [
                "app running 0-5 0", "app blocked 5-10 1", "c202 running 10-89 1",
                "c202 unknown 89-90 1", "app running 90-100 0",
            ])
    }

    /// Each process has its own phases and CPU time, and its longest wait.
    @Test func processesAddUp() {
        var builder = tree(owners: true)
        builder.slice(main, at: 0, running: 20, blocked: 30, nil)
        builder.slice(ThreadIndex(1), at: 15, running: 34, nil)
        builder.recording.children[0].images = [
            Image(path: "/bin/c", arguments: ["c", "x"], time: RecordingBuilder.at(15))
        ]
        builder.recording.children[0].borders = [
            LaunchBorder(kind: .spawned, time: RecordingBuilder.at(15)),
            LaunchBorder(kind: .firstInstruction, time: RecordingBuilder.at(20)),
            LaunchBorder(kind: .main, time: RecordingBuilder.at(25)),
            LaunchBorder(kind: .ended, time: RecordingBuilder.at(49)),
        ]
        let profile = Profile(builder.recording)
        #expect(profile.processes.map(\.pid) == [100, 201, 202])
        #expect(profile.processes.map(\.parent) == [nil, 0, 0])
        #expect(profile.processes.map { $0.cpu } == [20, 34, 0].map { .milliseconds($0) })
        #expect(profile.launch.cpu == .milliseconds(54))
        #expect(profile.processes[1].arguments == ["c", "x"])
        let phases = profile.processes[1].phases
        #expect(phases.map(\.name) == ["Process creation", "Static initialisers", "Main"])
        #expect(phases.map(\.start) == [15, 20, 25].map { .milliseconds($0) })
        #expect(phases.map(\.cpu) == [5, 5, 24].map { .milliseconds($0) })
        #expect(profile.processes[0].longestWait?.duration == .milliseconds(30))
        #expect(
            profile.processes[0].phases.map(\.cpu)
                == profile.phases.indices.map { index in
                    profile.times(in: Selection(phases: [index], threads: [0])).running
                })
    }
}
