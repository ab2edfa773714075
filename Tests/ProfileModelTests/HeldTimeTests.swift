import ProfileModel
import TestSupport
import Testing

/// The clock that leaves out the time for which the recorder held the whole program.
@Suite struct HeldTimeTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private func held(_ stretches: [(Int64, Int64)]) -> HeldTime {
        HeldTime(
            stretches.flatMap {
                [
                    LaunchBorder(kind: .held, time: at($0.0)),
                    LaunchBorder(kind: .released, time: at($0.1)),
                ]
            })
    }

    @Test func theClockStandsStillMeanwhile() {
        let held = held([(10, 14), (20, 21)])
        #expect(held.total == .milliseconds(5))
        #expect(held.without(at(10)) == at(10))
        #expect(held.without(at(12)) == at(10))
        #expect(held.without(at(14)) == at(10))
        #expect(held.without(at(20)) == at(16))
        #expect(held.without(at(30)) == at(25))
    }

    @Test func aHoldWithoutAnEndDoesNotCount() {
        #expect(HeldTime([LaunchBorder(kind: .held, time: at(3))]).isEmpty)
        #expect(HeldTime([LaunchBorder(kind: .released, time: at(3))]).isEmpty)
        #expect(held([(5, 5)]).isEmpty)
        #expect(HeldTime([]).without(at(7)) == at(7))
    }

    /// The thread's running time stays; the time left out of its slice is waiting.
    @Test func slicesKeepTheirRunning() {
        var recording = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .untraced, frequency: 1000))
        recording.borders = [
            LaunchBorder(kind: .spawned, time: at(0)), LaunchBorder(kind: .held, time: at(2)),
            LaunchBorder(kind: .released, time: at(5)), LaunchBorder(kind: .ended, time: at(10)),
        ]
        let times = StateTimes(
            running: .milliseconds(6), runnable: .milliseconds(1), preempted: .milliseconds(2),
            blocked: .milliseconds(1))
        recording.slices = [
            Slice(thread: ThreadIndex(0), start: at(0), times: times, stack: nil)
        ]
        let left = recording.without(HeldTime(recording.borders))
        #expect(left.slices[0].times.wall == .milliseconds(7))
        #expect(left.slices[0].times.running == .milliseconds(6))
        #expect(left.slices[0].times.preempted == .zero)
        #expect(left.slices[0].times.runnable == .zero)
        #expect(left.slices[0].times.blocked == .milliseconds(1))
        #expect(left.borders.last?.time == at(7))
    }

    /// For any held time: slices that tiled a thread's life tile the rest of it.
    @Test(arguments: 1...20) func slicesStillTile(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var recording = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .untraced, frequency: 1000))
        var now: Int64 = 0
        for _ in 0..<200 {
            func part() -> TimeSpan {
                TimeSpan(nanoseconds: Int64.random(in: 0...900, using: &random))
            }
            let times = StateTimes(
                running: part(), runnable: part(), preempted: part(), blocked: part())
            recording.slices.append(
                Slice(
                    thread: ThreadIndex(0), start: MonotonicTime(nanoseconds: now), times: times,
                    stack: nil))
            now += times.wall.nanoseconds
        }
        for _ in 0..<10 {
            let start = Int64.random(in: 0...now, using: &random)
            recording.borders.append(
                LaunchBorder(kind: .held, time: MonotonicTime(nanoseconds: start)))
            recording.borders.append(
                LaunchBorder(
                    kind: .released,
                    time: MonotonicTime(nanoseconds: start + .random(in: 0...2000, using: &random)))
            )
        }
        let held = HeldTime(recording.borders)
        let left = recording.without(held)
        for (one, next) in zip(left.slices, left.slices.dropFirst()) {
            #expect(one.end == next.start)
        }
        let end = held.without(MonotonicTime(nanoseconds: now))
        #expect(left.slices.last?.end == end)
    }

    /// One of each thing that has times: none stays on the old clock.
    @Test func everyTimeMoves() {
        let time = at(20)
        let thread = ThreadIndex(0)
        var whole = Recording(
            header: Recording.Header(
                pid: 1, isAttached: false, capture: .untraced, frequency: 1000))
        let image = Image(path: "/bin/app", arguments: [], time: time)
        let border = LaunchBorder(kind: .main, time: time)
        var child = ChildProcess(pid: 2, parent: 1, name: "child", start: time, end: time)
        (child.images, child.borders) = ([image], [border])
        whole.children = [child]
        (whole.images, whole.borders) = ([image], [border])
        whole.threads = [RecordedThread(tid: 1, name: "app", start: time, end: time, isMain: true)]
        whole.mappings = [
            Mapping(start: 1, end: 2, bias: 0, module: ModuleIndex(0), time: time)
        ]
        whole.slices = [Slice(thread: thread, start: time, times: .zero, stack: nil)]
        whole.libraries = [LibraryLoad(path: "/lib/a.so", start: time, size: 1, isInitial: true)]
        whole.initializers = [
            InitializerRun(
                function: StackID(0), thread: thread, start: time, end: time, cpu: .zero,
                isComplete: true)
        ]
        whole.intervals = [
            Interval(name: "load", category: "", thread: thread, start: time, end: time)
        ]
        whole.signposts = [Signpost(name: "first", category: "", thread: thread, time: time)]
        whole.ready = Readiness(time: time, by: "listen")
        whole.waits = [
            Wait(thread: thread, start: time, end: time, reason: WaitReason(.sleep), systemCall: 1)
        ]
        whole.runs = ScheduledRuns([
            ScheduledRun(thread: thread, start: time, end: time, state: .running)
        ])
        whole.wakeups = [
            Wakeup(
                thread: thread, time: time, waker: 1, wakerName: "", wakerThread: nil,
                isInterrupt: false)
        ]
        whole.priorities = [
            Priority(thread: thread, time: time, policy: 0, nice: 0, realTime: 0)
        ]
        #expect(Self.times(in: whole).count >= 21)
        for (path, time) in Self.times(in: whole) { #expect(time == at(20), "\(path)") }
        let moved = Self.times(in: whole.without(held([(10, 14)])))
        for (path, time) in moved { #expect(time == at(16), "\(path)") }
    }

    /// All times that the recording has, by the path to each.
    private static func times(in value: Any, path: String = "") -> [(String, MonotonicTime)] {
        if let time = value as? MonotonicTime { return [(path, time)] }
        return Mirror(reflecting: value).children.enumerated().flatMap { index, child in
            times(in: child.value, path: "\(path).\(child.label ?? String(index))")
        }
    }
}
