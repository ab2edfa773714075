import Glibc
import ProfileModel
import Recording
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
        var template = Array("/tmp/firstlight-test-XXXXXX\0".utf8CString)
        let folder = try #require(
            template.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.flatMap(mkdtemp).map { String(cString: $0) }
            })
        let path = folder + "/a"
        defer {
            unlink(path)
            rmdir(folder)
        }
        let header = Recording.Header(pid: 0, isAttached: false, capture: .signal, frequency: 1000)
        let queue = EventQueue()
        let writer = RecordingThread(path: path, header: header, queue: queue)
        try #require(writer.start())
        queue.receive(.began(pid: getpid()))
        for event in events { queue.receive(event) }
        writer.finish([], []) { _ in }
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

    /// What the program's memory may say does not end the recording.
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
}
