import MadeRecordings
import ProfileModel
import Testing

@testable import Analysis

/// Waits: their reasons completed, their wakers, and their frames in trees.
@Suite struct WaitTests {
    private typealias Spot = RecordingBuilder.Spot

    /// From 0 to 100 ms, main from 10.
    private func launch() -> (RecordingBuilder, ThreadIndex, ThreadIndex) {
        var builder = RecordingBuilder(images: [("/home/dev/app", 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 2)
        builder.border(.main, 10)
        builder.border(.ended, 100)
        let main = builder.thread("app", tid: 7, to: 100, isMain: true)
        let worker = builder.thread("worker", tid: 8, to: 100)
        return (builder, main, worker)
    }

    private func detail(
        _ reason: WaitReason, call: Int32 = 202, _ functions: String...,
        change: (inout RecordingBuilder) -> Void = { _ in }
    ) throws -> WaitReason {
        var (builder, main, _) = launch()
        change(&builder)
        let stack = builder.stack(functions.map { Spot($0) })
        builder.wait(main, from: 20, to: 50, reason, call: call, stack)
        return try #require(Profile(builder.recording).waits.first).reason
    }

    // MARK: Reasons

    @Test func knownFactsOfAWaitStay() throws {
        let file = WaitReason(.file, detail: "/etc/hosts")
        #expect(try detail(file, call: 0, "main", "read") == file)
        #expect(try detail(WaitReason(.pipe), call: 0, "main", "read") == WaitReason(.pipe))
    }

    /// Where a child's command could not be read in time, it is that of the child that was recorded: of
    /// several with one id, the one that was there.
    @Test func aRecordedChildSaysWhatItRan() throws {
        func waiting(for owner: Int32?, detail known: String? = nil) throws -> String? {
            try detail(WaitReason(.child, detail: known, owner: owner), call: 61) { builder in
                for (name, arguments, start) in [
                    ("make", ["make", "all"], 12), ("cc", ["cc", "a.c", "b.c"], 19), ("ld", [], 60),
                ] as [(String, [String], Int64)] {
                    var child = ChildProcess(
                        pid: 201, parent: 7, name: name, start: RecordingBuilder.at(start),
                        end: RecordingBuilder.at(start + 5), outcome: .exited(0))
                    child.images = [
                        Image(
                            path: "/bin/\(name)", arguments: arguments,
                            time: RecordingBuilder.at(start))
                    ]
                    builder.recording.children.append(child)
                }
            }.detail
        }
        #expect(try waiting(for: 201) == "cc a.c")
        #expect(try waiting(for: 201, detail: "sh -c x") == "sh -c x")
        #expect(try waiting(for: 202) == nil)
        #expect(try waiting(for: nil) == nil)
    }

    @Test func anotherCallHasItsName() throws {
        #expect(try detail(WaitReason(.other), call: 24).detail == "sched_yield")
        #expect(try detail(WaitReason(.other), call: 0).detail == "read")
        #expect(
            try detail(WaitReason(.other, detail: "eventfd"), call: 0).detail == "read: eventfd")
        #expect(try detail(WaitReason(.other), call: 9999).detail == "system call 9999")
        #expect(try detail(WaitReason(.other), call: -1).detail == "blocked outside a system call")
    }

    @Test(arguments: [
        ("__pthread_cond_wait_common", WaitReason.Kind.condition, "condition variable"),
        ("__new_sem_wait_slow64 [clone .constprop.0]", .condition, "semaphore"),
        ("sem_timedwait", .condition, "semaphore"), ("__lll_lock_wait", .lock, "mutex"),
        ("___pthread_mutex_lock", .lock, "mutex"),
        ("__pthread_rwlock_rdlock_full64", .lock, "read-write lock"),
        ("pthread_join", .condition, "end of a thread"),
        ("std::sys::sync::mutex::futex::Mutex::lock_contended", .lock, "mutex"),
        ("__cxa_guard_acquire", .condition, "once"),
    ])
    func functionsSayWhatAFutexIs(
        function: String, kind: WaitReason.Kind, what: String
    ) throws {
        let reason = try detail(WaitReason(.other), "main", function, "futex_wait", "syscall")
        #expect(reason == WaitReason(kind, detail: what))
        // In another call they say nothing.
        #expect(try detail(WaitReason(.other), call: 0, "main", function).kind == .other)
        // Nor do those far out.
        let far = try detail(WaitReason(.other), function, "a", "b", "c", "d", "e", "f")
        #expect(far == WaitReason(.other, detail: "futex"))
    }

    @Test func anUnknownFutexStaysUnknown() throws {
        let reason = try detail(WaitReason(.other, place: 0x40), "main", "runtime.futexsleep")
        #expect(reason == WaitReason(.other, detail: "futex", place: 0x40))
    }

    @Test func placesHaveNames() throws {
        let mutex = WaitReason(.lock, detail: "mutex", owner: 8, place: 0x5000_4010)
        func name(_ place: UInt64, function: String? = "g_mutex") throws -> String? {
            try detail(mutex) { builder in
                let module = builder.module("/home/dev/app")
                builder.recording.mappings = [
                    Mapping(
                        start: 0x5000_1000, end: 0x5000_2000, bias: 0x5000_0000, module: module,
                        time: RecordingBuilder.at(1)),
                    Mapping(
                        start: 0x7000_0000, end: 0x7000_1000, bias: 0x7000_0000, module: module,
                        time: RecordingBuilder.at(1)),
                ]
                let address = FrameAddress(
                    module: module, address: CodeAddress(place, .instruction))
                builder.recording.symbols.frames[address] = [
                    SourceFrame(function: function, file: nil, line: nil, isInlined: false)
                ]
            }.detail
        }
        #expect(try name(0x4010) == "mutex g_mutex")
        #expect(try name(0x4018) == "mutex at 0x50004010")
        #expect(try name(0x4010, function: nil) == "mutex at 0x50004010")
    }

    /// Its condition variable lies in CPython's state, whether a look at it timed out or not.
    @Test func theInterpretersLock() throws {
        func reason(_ wait: WaitReason, call: Int32 = 202, _ symbol: String = "_PyRuntime") throws
            -> WaitReason
        {
            try detail(wait, call: call) { builder in
                let module = builder.module("/usr/bin/python3")
                builder.recording.mappings = [
                    Mapping(
                        start: 0x5000_1000, end: 0x5000_2000, bias: 0x5000_0000, module: module,
                        time: RecordingBuilder.at(1))
                ]
                let address = FrameAddress(
                    module: module, address: CodeAddress(0x4010, .instruction))
                builder.recording.symbols.frames[address] = [
                    SourceFrame(function: symbol, file: nil, line: nil, isInlined: false)
                ]
            }
        }
        let place: UInt64 = 0x5000_4010
        let look = "condition variable, time-out after 5 ms"
        for wait in [
            WaitReason(.condition, detail: "condition variable", place: place),
            WaitReason(.sleep, detail: look, place: place), WaitReason(.other, place: place),
        ] {
            #expect(try reason(wait) == .interpreterLock)
        }
        let slept = WaitReason(.sleep, detail: look, place: place)
        #expect(try reason(slept, "g_ready") == slept)
        #expect(try reason(slept, call: 7) == slept)
    }

    // MARK: Figures

    @Test func figures() throws {
        var (builder, main, worker) = launch()
        let stack = builder.stack("main", "load", "read")
        builder.wait(worker, from: 40, to: 60, WaitReason(.pipe), call: 0)
        builder.wait(main, from: 5, to: 12, WaitReason(.file, detail: "/x"), call: 0, stack)
        let profile = Profile(builder.recording)
        let (first, second) = try (
            #require(profile.waits.first), #require(profile.waits.last)
        )
        #expect(first.thread == 0 && second.thread == 1)
        #expect(first.start == .milliseconds(5) && first.duration == .milliseconds(7))
        for wait in [first, second] {
            let phase = profile.phases[try #require(wait.phase)]
            #expect(phase.start <= wait.start && wait.start < phase.end)
        }
        #expect(first.phase != second.phase)
        let names = profile.stack(of: first).map { profile.frames.function(of: $0).name }
        #expect(names == ["main", "load", "read"])
        #expect(profile.stack(of: second).isEmpty)
    }

    @Test func selections() {
        var (builder, main, worker) = launch()
        builder.wait(main, from: 3, to: 5, WaitReason(.pipe), call: 0)
        builder.wait(main, from: 20, to: 50, WaitReason(.pipe), call: 0)
        builder.wait(worker, from: 60, to: 61, WaitReason(.pipe), call: 0)
        let profile = Profile(builder.recording)
        func starts(_ selection: Selection, _ shortest: Int64 = 1) -> [Int64] {
            profile.waits(in: selection, shortest: .milliseconds(shortest)).map {
                $0.start.nanoseconds / 1_000_000
            }
        }
        #expect(starts(.all) == [3, 20, 60])
        #expect(starts(.all, 2) == [3, 20] && starts(.all, 3) == [20])
        #expect(starts(Selection(threads: [1])) == [60])
        let main10 = profile.phases.firstIndex { $0.name == "Main" }
        #expect(starts(Selection(phases: Set([main10].compactMap { $0 }))) == [20, 60])
        let window = TimeWindows([.milliseconds(45) ..< .milliseconds(46)])
        #expect(starts(Selection(windows: window)) == [20])
    }

    // MARK: Wakers

    private func waker(
        owner: Int32? = nil, kind: WaitReason.Kind = .lock, to end: Int64 = 50,
        _ wakeups: [Wakeup] = []
    ) throws -> Waker? {
        var (builder, main, _) = launch()
        builder.wait(main, from: 20, to: end, WaitReason(kind, detail: "x", owner: owner))
        builder.recording.wakeups = wakeups
        return try #require(Profile(builder.recording).waits.first).endedBy
    }

    private func wakeup(
        _ thread: Int = 0, at time: Int64, by waker: Int32, isInterrupt: Bool = false
    ) -> Wakeup {
        Wakeup(
            thread: ThreadIndex(thread), time: RecordingBuilder.at(time), waker: waker,
            wakerName: "waker", wakerThread: nil, isInterrupt: isInterrupt)
    }

    @Test func ownersEndWaits() throws {
        #expect(try waker() == nil)
        #expect(try waker(owner: 8) == Waker(tid: 8, name: "worker"))
        #expect(try waker(owner: 99) == Waker(tid: 99, name: nil))
        #expect(try waker(owner: 70, kind: .child) == Waker(tid: 70, name: "x"))
        // No thread did: the recording ended.
        #expect(try waker(owner: 8, to: 100) == nil)
    }

    @Test func wakeupsKnowBetter() throws {
        let other = wakeup(at: 50, by: 33)
        #expect(try waker(owner: 8, [other]) == Waker(tid: 33, name: "waker"))
        #expect(try waker(kind: .pipe, [other]) == Waker(tid: 33, name: "waker"))
        // The nearest counts, within two ticks.
        let near = [wakeup(at: 30, by: 1), wakeup(at: 49, by: 2), wakeup(at: 53, by: 3)]
        #expect(try waker(near) == Waker(tid: 2, name: "waker"))
        #expect(try waker(near.reversed()) == Waker(tid: 2, name: "waker"))
        #expect(try waker([wakeup(at: 52, by: 3)]) == Waker(tid: 3, name: "waker"))
        #expect(try waker([wakeup(at: 53, by: 3)]) == nil)
        #expect(try waker(owner: 8, [wakeup(at: 53, by: 3)]) == Waker(tid: 8, name: "worker"))
        // A timer or a device is no waker, even if a lock had an owner.
        #expect(try waker(owner: 8, [wakeup(at: 50, by: 3, isInterrupt: true)]) == nil)
        #expect(try waker([wakeup(at: 50, by: 0)]) == nil)
        // Another thread's.
        #expect(try waker([wakeup(1, at: 50, by: 3)]) == nil)
        // Time ends a sleep, whichever thread was seen then.
        #expect(try waker(kind: .sleep, [other]) == nil)
    }

    /// A look saw the wait's end late: the next one had begun and ended in between.
    @Test func theLongestStretchCounts() throws {
        var (builder, main, _) = launch()
        builder.wait(main, from: 20, to: 50, WaitReason(.child, detail: "cc1", owner: 70))
        builder.runs(
            main, from: 0, (.running, until: 21), (.blocked, until: 47), (.running, until: 48),
            (.blocked, until: 49), (.running, until: 100))
        builder.recording.wakeups = [wakeup(at: 47, by: 70), wakeup(at: 49, by: 71)]
        let wait = try #require(Profile(builder.recording).waits.first)
        #expect(wait.endedBy == Waker(tid: 70, name: "cc1"))
    }

    @Test func wakersHaveTheNamesThatAreKnown() throws {
        // The scheduler does not name the recording's own threads.
        var own = wakeup(at: 50, by: 8)
        (own.wakerName, own.wakerThread) = ("", ThreadIndex(1))
        #expect(try waker([own]) == Waker(tid: 8, name: "worker"))
        #expect(try waker(owner: 8, [own]) == Waker(tid: 8, name: "worker"))
        // A child has the name that it had then, not the one that it has at its end.
        let child = wakeup(at: 50, by: 70)
        #expect(try waker(owner: 70, kind: .child, [child]) == Waker(tid: 70, name: "x"))
        var unnamed = wakeup(at: 50, by: 33)
        unnamed.wakerName = ""
        #expect(try waker([unnamed]) == Waker(tid: 33, name: nil))
    }

    // MARK: Trees

    private func blocked(_ recording: Recording) -> [String: Int64] {
        let profile = Profile(recording)
        var result: [String: Int64] = [:]
        for stack in profile.weighedStacks(.all, weight: .blocked) {
            let name = stack.frames.last.map { profile.frames.function(of: $0).name } ?? ""
            result[name, default: 0] += stack.weight.nanoseconds / 1_000_000
        }
        return result
    }

    @Test func slicesHaveTheFramesOfTheirWaits() {
        var (builder, main, worker) = launch()
        let stack = builder.stack("main", "work")
        builder.slice(main, at: 10, running: 2, blocked: 3, stack, call: 0)
        builder.slice(main, at: 15, blocked: 10, stack, call: 0)
        builder.slice(main, at: 25, running: 5, blocked: 1, stack)
        builder.slice(main, at: 31, blocked: 4, stack, call: 35)
        builder.slice(main, at: 35, running: 1, blocked: 9, stack, call: 7)
        builder.slice(worker, at: 15, blocked: 6, stack, call: 0)
        builder.wait(main, from: 12, to: 25, WaitReason(.file, detail: "/x"), call: 0)
        builder.wait(
            main, from: 31, to: 35, WaitReason(.sleep, detail: "nanosleep 4 ms"), call: 35)
        #expect(
            blocked(builder.recording) == [
                // A wait shorter than a look has the call's name, or none.
                "[file: /x]": 13, "[blocked]": 1, "[sleep]": 4, "[poll]": 9, "[read]": 6,
            ])
    }

    /// Details that differ from run to run would prevent comparisons.
    @Test func framesHaveNoAddresses() {
        var (builder, main, _) = launch()
        builder.slice(main, at: 20, blocked: 10, builder.stack("main"), call: 202)
        builder.wait(
            main, from: 20, to: 30, WaitReason(.condition, detail: "semaphore", place: 0x77))
        #expect(blocked(builder.recording) == ["[condition: semaphore]": 10])
    }

    @Test func thereAreNotTooManyFrames() {
        var (builder, main, _) = launch()
        let stack = builder.stack("main")
        for index in 0..<600 as Range<Int64> {
            let start = RecordingBuilder.at(10).nanoseconds + index * 100_000
            let time = MonotonicTime(nanoseconds: start)
            let span = TimeSpan(nanoseconds: 100_000)
            builder.recording.slices.append(
                Slice(
                    thread: main, start: time, times: StateTimes(blocked: span), stack: stack,
                    systemCall: 0))
            builder.recording.waits.append(
                Wait(
                    thread: main, start: time, end: time + span,
                    reason: WaitReason(.file, detail: "/\(index)"), systemCall: 0))
        }
        let profile = Profile(builder.recording)
        let names = profile.weighedStacks(.all, weight: .blocked).compactMap {
            $0.frames.last.map { profile.frames.function(of: $0).name }
        }
        #expect(Set(names).count == 257 && names.contains("[file]") && names.contains("[file: /0]"))
    }

    @Test func badDataIsLeftOut() {
        var (builder, main, _) = launch()
        builder.wait(ThreadIndex(9), from: 1, to: 2, WaitReason(.pipe))
        builder.wait(ThreadIndex(-1), from: 1, to: 2, WaitReason(.pipe))
        builder.wait(main, from: 9, to: 2, WaitReason(.pipe), StackID(77))
        builder.recording.waits.append(
            Wait(
                thread: main, start: MonotonicTime(nanoseconds: .min),
                end: MonotonicTime(nanoseconds: .max),
                reason: WaitReason(.lock, owner: .min, place: .max), systemCall: .min))
        builder.recording.priorities.append(
            Priority(
                thread: ThreadIndex(5), time: RecordingBuilder.at(1), policy: 0, nice: 0,
                realTime: 0))
        let profile = Profile(builder.recording)
        #expect(profile.waits.count == 2 && profile.priorities.isEmpty)
        #expect(profile.waits.allSatisfy { $0.duration >= .zero })
    }
}
