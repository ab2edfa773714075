import Analysis
import ProfileModel
import Testing

@Suite struct CriticalPathTests {
    private var builder = RecordingBuilder(images: [("/home/dev/app", 0)])
    private let main: ThreadIndex

    init() {
        builder.mark(.spawned, 0)
        builder.mark(.main, 10)
        builder.mark(.ended, 100)
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

    /// What the waker did before the wait began is none of the path's.
    @Test func aWaitEndsWhereItBegan() {
        var builder = builder
        let b = builder.thread("B", tid: 101, to: 100)
        builder.runs(
            main, from: 0, (.running, until: 40), (.blocked, until: 60), (.running, until: 100))
        // It waited itself, since before, and for an interrupt.
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
        builder.mark(.spawned, 0)
        builder.mark(.ended, 10)
        #expect(path(builder.recording).isEmpty)
    }

    /// Whatever a file says: the segments follow each other, from the beginning to the end.
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
            recording.runs.append(
                ScheduledRun(
                    thread: thread(), start: time(), end: time(),
                    state: ThreadState.allCases.randomElement(using: &random) ?? .running))
            recording.wakeups.append(
                Wakeup(
                    thread: thread(),
                    time: recording.runs.randomElement(using: &random)?.end
                        ?? time(), waker: 5, wakerName: "", wakerThread: thread(),
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
}
