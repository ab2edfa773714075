import Architecture
import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

@testable import Recorder
@testable import Sampler

/// From the sampler's events to the file.
@Suite struct RecordingThreadTests {
    private static func time(_ nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds)
    }

    private static let code = CodeMapping(
        start: 0x10000, end: 0x20000, fileOffset: 0, path: "/nowhere/libslow.so", inode: 1)

    private func record(_ events: [SamplerEvent]) throws -> Recording {
        try record { queue in for event in events { queue.receive(event) } }
    }

    private func record(_ send: (EventQueue) -> Void) throws -> Recording {
        let scratch = try Scratch()
        let path = scratch.path("a")
        let header = Recording.Header(
            pid: 0, isAttached: false, capture: .untraced, frequency: 1000)
        let queue = EventQueue()
        let writer = RecordingThread(path: path, header: header, queue: queue)
        try #require(writer.start())
        queue.receive(.began(pid: getpid()))
        send(queue)
        writer.finish([]) { _ in }
        #expect(writer.failure == nil)
        return try RecordingReader.load(path: path)
    }

    private static let thread = SamplerEvent.threadStarted(
        RecordedThread(tid: 7, name: "app", start: time(1), isMain: true))

    private static func initializer(_ function: UInt64, thread: Int = 0) -> SamplerEvent {
        .initializer(
            ObservedInitializer(
                function: function, thread: ThreadIndex(thread), start: time(10), end: time(30),
                cpu: TimeSpan(nanoseconds: 15), isComplete: true))
    }

    @Test func everyFactIsWritten() throws {
        var registers = Registers(programCounter: 0x10010, stackPointer: 0x7000)
        registers[Registers.framePointer] = 0x7000
        let caller = Snapshot(
            registers: registers,
            stack: StackCopy(start: 0x7000, bytes: [UInt8](repeating: 0, count: 16)))
        let library = LibraryLoad(
            path: "/nowhere/libslow.so", start: Self.time(5), wall: TimeSpan(nanoseconds: 50),
            size: 4096, requestedBy: "/nowhere/app", isInitial: false)
        let interval = Interval(
            name: "load", category: "launch", subsystem: "s", thread: ThreadIndex(0),
            start: Self.time(40), end: Self.time(60), isComplete: false)
        let signpost = Signpost(
            name: "tap", category: "c", thread: ThreadIndex(0), time: Self.time(50))
        let ready = Readiness(time: Self.time(70), by: "notify")
        let recording = try record([
            Self.thread, .mappings([Self.code], Self.time(3)),
            .library(ObservedLibrary(load: library, caller: caller)), Self.initializer(0x10040),
            .interval(interval), .signpost(signpost), .ready(ready),
            .ready(Readiness(time: Self.time(80), by: "exit")),
        ])
        #expect(recording.intervals == [interval])
        #expect(recording.signposts == [signpost])
        #expect(recording.ready == ready)
        let loaded = try #require(recording.libraries.first)
        let stack = try #require(loaded.caller)
        #expect(recording.stacks[stack].frame.module == ModuleIndex(0))
        #expect(recording.stacks[stack].frame.address.value == 0x10)
        #expect(loaded.wall == library.wall && loaded.requestedBy == library.requestedBy)
        let run = try #require(recording.initializers.first)
        #expect(
            recording.stacks[run.function]
                == StackTable.Node(
                    parent: nil,
                    frame: FrameAddress(
                        module: ModuleIndex(0), address: CodeAddress(0x40, .instruction))))
        #expect(run.end == Self.time(30) && run.cpu == TimeSpan(nanoseconds: 15))
    }

    @Test func initialisersWaitForTheirMapping() throws {
        let recording = try record([
            Self.thread, Self.initializer(0x10040), Self.initializer(0x99),
            .mappings([Self.code], Self.time(3)),
        ])
        #expect(
            recording.initializers.map { recording.stacks[$0.function].frame.module }
                == [ModuleIndex(0), nil])
    }

    /// Any contents of the program's memory do not end the recording.
    @Test func nonsenseIsLeftOut() throws {
        let interval = Interval(
            name: String(repeating: "x", count: 1 << 20), category: "", thread: ThreadIndex(9),
            start: Self.time(9), end: Self.time(2))
        let recording = try record([
            Self.thread, Self.initializer(0x10040, thread: 3),
            .interval(interval),
            .interval(
                Interval(
                    name: "", category: "", thread: nil, start: Self.time(.min),
                    end: Self.time(.max))),
            .signpost(Signpost(name: "", category: "", thread: nil, time: Self.time(-1))),
            .ready(Readiness(time: Self.time(-1), by: "notify")),
            .ready(Readiness(time: Self.time(8), by: "exit")),
        ])
        #expect(recording.initializers.isEmpty && recording.signposts.isEmpty)
        let kept = try #require(recording.intervals.first)
        #expect(recording.intervals.count == 1)
        #expect(kept.thread == nil && kept.end == kept.start)
        #expect(kept.name.utf8.count == RecordedText.longest)
        #expect(recording.ready?.by == "exit")
    }

    // MARK: Several processes

    private static func sample(_ address: UInt64, at start: Int64) -> SamplerEvent {
        var registers = Registers(programCounter: address, stackPointer: 0x7000)
        registers[Registers.framePointer] = 0x7000
        let stack = StackCopy(start: 0x7000, bytes: [UInt8](repeating: 0, count: 16))
        return .sample(
            Sample(
                thread: ThreadIndex(0), start: time(start),
                times: StateTimes(running: TimeSpan(nanoseconds: 10)),
                content: .snapshot(Snapshot(registers: registers, stack: stack))))
    }

    private static func outcome(_ outcome: Recording.Outcome, cpu: Int64) -> SamplerOutcome {
        SamplerOutcome(
            outcome: outcome, ticks: 1, missedTicks: 0, samples: SampleTally(), lateness: .zero,
            heldByProfiler: .zero,
            capture: .ptrace, cpu: TimeSpan(nanoseconds: cpu), account: nil,
            notes: [RecorderNote(.lostWaits, 2)], markProblems: [])
    }

    /// Threads, modules and stacks have one numbering; an id that is used again is another process.
    @Test func childrenAreInTheSameFile() throws {
        let moved = CodeMapping(
            start: 0x50000, end: 0x60000, fileOffset: 0, path: Self.code.path, inode: 1)
        let recording = try record { queue in
            let children = FollowedChildren(queue: queue)
            queue.receive(Self.thread)
            queue.receive(.mappings([Self.code], Self.time(3)))
            queue.receive(Self.sample(0x10010, at: 10))
            let pid = getpid()
            for round in 0..<2 {
                let start = Self.time(Int64(100 * (round + 1)))
                guard let sink = children.began(70, parent: pid, at: start),
                    let inner = children.began(71, parent: 70, at: start)
                else { continue }
                for (sink, tid, address) in [(sink, 70, 0x50010), (inner, 71, 0x50020)] {
                    sink.receive(.began(pid: Int32(tid)))
                    sink.receive(
                        .image(Image(path: "/bin/\(tid)", arguments: ["a"], time: start)))
                    sink.receive(.border(LaunchBorder(kind: .spawned, time: start)))
                    sink.receive(
                        .threadStarted(
                            RecordedThread(
                                tid: Int32(tid), name: "t\(tid)", start: start, isMain: true)))
                    sink.receive(.mappings([moved], start))
                    sink.receive(Self.sample(UInt64(address), at: start.nanoseconds + 5))
                }
                children.ended(
                    71, Self.outcome(.exited(3), cpu: 5), at: MonotonicTime(nanoseconds: 400))
                children.ended(
                    70, Self.outcome(.signalled(9), cpu: 7), at: MonotonicTime(nanoseconds: 500))
            }
        }
        #expect(recording.children.map(\.pid) == [70, 71, 70, 71])
        #expect(
            recording.children.map(\.parentIndex) == [nil, ChildIndex(0), nil, ChildIndex(2)])
        #expect(recording.children.map(\.name) == ["70", "71", "70", "71"])
        #expect(recording.children.map { $0.cpu?.nanoseconds } == [7, 5, 7, 5])
        #expect(recording.children[1].outcome == .exited(3))
        #expect(recording.children[0].images.map(\.arguments) == [["a"]])
        #expect(recording.children[3].borders.map(\.time) == [Self.time(200)])
        #expect(
            recording.threads.map(\.child) == [nil] + (0..<4).map { ChildIndex($0) })
        #expect(recording.modules.count == 1)
        #expect(recording.mappings.map(\.child) == [nil] + (0..<4).map { ChildIndex($0) })
        #expect(recording.slices.map(\.thread.rawValue).sorted() == [0, 1, 2, 3, 4])
        // The first process and the children have the same code at different places.
        let stacks = recording.slices.sorted { $0.thread < $1.thread }.map(\.stack)
        #expect(stacks[0] == stacks[1] && stacks[1] == stacks[3] && stacks[2] == stacks[4])
        #expect(stacks[1] != stacks[2])
        #expect(recording.notes.contains(RecorderNote(.lostWaits, 8)))
    }

    /// A recording that is cut short has the known facts about a child.
    @Test func aChildThatGoesOnHasNoEnd() throws {
        let recording = try record { queue in
            let children = FollowedChildren(queue: queue)
            let sink = children.began(70, parent: 5, at: Self.time(100))
            sink?.receive(.image(Image(path: "/bin/a", arguments: [], time: Self.time(101))))
        }
        let child = try #require(recording.children.first)
        #expect(child.end == nil && child.cpu == nil && child.outcome == .unknown)
        #expect(child.parent == 5 && child.parentIndex == nil && child.name == "a")
    }
}
