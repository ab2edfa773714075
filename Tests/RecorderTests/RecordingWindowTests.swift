import Architecture
import Glibc
import ProfileModel
import Recording
import TestSupport
import Testing

@testable import Recorder
@testable import Sampler

/// `--last`: of a recording only the last stretch is kept.
@Suite struct RecordingWindowTests {
    /// - Parameter milliseconds: since the launch.
    private static func time(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 100_000_000_000 + Int64(milliseconds) * 1_000_000)
    }

    private static let code = CodeMapping(
        start: 0x10000, end: 0x20000, fileOffset: 0, path: "/nowhere/libslow.so", inode: 1)

    /// - Parameter content: of which function; nil: unchanged.
    private static func sample(
        _ thread: Int, from start: Int, of function: UInt64?
    ) -> SamplerEvent {
        var content = Sample.Content.unchanged
        if let function {
            var registers = Registers(programCounter: 0x10000 + function, stackPointer: 0x7000)
            registers[Registers.framePointer] = 0x7000
            let stack = StackCopy(start: 0x7000, bytes: [UInt8](repeating: 0, count: 16))
            content = .snapshot(Snapshot(registers: registers, stack: stack))
        }
        return .sample(
            Sample(
                thread: ThreadIndex(thread), start: time(start),
                times: StateTimes(running: TimeSpan.milliseconds(100)), content: content))
    }

    /// Ten seconds of a program: its first thread does something else each second, another one has one
    /// stack all the while, and each second a third one lives for half of it.
    private func record(
        _ queue: EventQueue, priority: (Int) -> Int32 = { _ in 0 },
        also: (Int) -> Void = { _ in }
    ) {
        queue.receive(.image(Image(path: "/bin/app", arguments: ["app"], time: Self.time(0))))
        queue.receive(.border(LaunchBorder(kind: .firstInstruction, time: Self.time(0))))
        queue.receive(.mappings([Self.code], Self.time(0)))
        for tid in [7, 8] {
            queue.receive(
                .threadStarted(
                    RecordedThread(
                        tid: Int32(tid), name: "t\(tid)", start: Self.time(0), isMain: tid == 7)))
        }
        queue.receive(Self.sample(1, from: -100, of: 0x999))
        for second in 0..<10 {
            also(second)
            let start = second * 1000
            queue.receive(
                .priority(
                    Priority(
                        thread: ThreadIndex(0), time: Self.time(start), policy: 0,
                        nice: priority(second), realTime: 0)))
            queue.receive(
                .threadStarted(
                    RecordedThread(
                        tid: Int32(100 + second), name: "short", start: Self.time(start),
                        isMain: false)))
            for tick in 0..<10 {
                let moment = start + tick * 100
                queue.receive(Self.sample(0, from: moment, of: UInt64(second * 16 + 1)))
                queue.receive(Self.sample(1, from: moment, of: nil))
                if tick < 5 { queue.receive(Self.sample(2 + second, from: moment, of: 0x500)) }
            }
            queue.receive(.threadEnded(ThreadIndex(2 + second), Self.time(start + 500)))
            queue.receive(
                .signpost(
                    Signpost(
                        name: "s\(second)", category: "", thread: ThreadIndex(2 + second),
                        time: Self.time(start + 400))))
        }
        let end = Self.time(10_000)
        for thread in [0, 1] { queue.receive(.threadEnded(ThreadIndex(thread), end)) }
        queue.receive(.border(LaunchBorder(kind: .ended, time: end)))
    }

    private func recorded(
        last: TimeSpan?, _ send: (EventQueue) -> Void
    ) throws -> (recording: Recording, files: [String]) {
        let scratch = try Scratch()
        let path = scratch.folder + "/a"
        let header = Recording.Header(
            pid: 0, isAttached: false, capture: .untraced, frequency: 1000)
        let queue = EventQueue()
        let writer = RecordingThread(path: path, header: header, queue: queue, last: last)
        try #require(writer.start())
        queue.receive(.began(pid: getpid()))
        send(queue)
        writer.finish([]) { $0.outcome = .exited(0) }
        #expect(writer.failure == nil)
        #expect(writer.identity == RecordingFile.Identity(of: path))
        return (try RecordingReader.load(path: path), scratch.names)
    }

    private func functions(_ recording: Recording, of tid: Int32) -> [UInt64?] {
        recording.slices.filter { recording.threads[$0.thread.rawValue].tid == tid }
            .map { $0.stack.map { recording.stacks[$0].frame.address.value } }
    }

    /// For any length of the window, and so any place where its parts meet.
    @Test(arguments: [1_000, 1_500, 2_000, 2_500, 3_300, 4_900, 9_000])
    func theLastStretchIsWhole(milliseconds: Int64) throws {
        let last = TimeSpan.milliseconds(milliseconds)
        let (recording, files) = try recorded(last: last) { record($0) }
        let end = Self.time(10_000)
        let start = end - last
        #expect(files == ["a"])
        #expect(recording.header.isAttached && recording.header.outcome == .exited(0))
        #expect(recording.header.pid == getpid())
        #expect(recording.notes.contains(RecorderNote(.window, last.nanoseconds)))
        #expect(
            recording.borders
                == [
                    LaunchBorder(kind: .attached, time: start),
                    LaunchBorder(kind: .ended, time: end),
                ])
        #expect(
            recording.images == [Image(path: "/bin/app", arguments: ["app"], time: start)])
        // Slices that cross its border have no order: a tenth of a second is left out there.
        let ticks = Int(milliseconds / 100)
        #expect(functions(recording, of: 8) == Array(repeating: 0x999, count: ticks))
        let all = (0..<10).flatMap { Array(repeating: UInt64($0 * 16 + 1), count: 10) }
        #expect(functions(recording, of: 7) == Array(all.suffix(ticks)))
        let short = recording.threads.filter { $0.name == "short" }
        #expect(
            short.map(\.tid)
                == (0..<10).filter { Self.time($0 * 1000 + 500) > start }
                .map { Int32(100 + $0) })
        #expect(recording.threads.allSatisfy { $0.start >= start && $0.end != nil })
        #expect(recording.slices.allSatisfy { $0.start >= start && $0.end <= end })
        #expect(
            recording.signposts.map(\.name)
                == (0..<10).filter { Self.time($0 * 1000 + 400) >= start }.map { "s\($0)" })
        for signpost in recording.signposts {
            let thread = try #require(signpost.thread)
            #expect("s\(recording.threads[thread.rawValue].tid - 100)" == signpost.name)
        }
        #expect(recording.modules.count == 1)
        #expect(recording.mappings.count == 1)
        // Stacks that no slice uses any more are gone.
        #expect(recording.stacks.nodes.count <= Int(milliseconds / 1000) + 4)
    }

    /// A recording shorter than the window is a launch like any other.
    @Test func aShortOneIsKeptWhole() throws {
        let (recording, files) = try recorded(last: .milliseconds(10_100)) { record($0) }
        let (plain, _) = try recorded(last: nil) { record($0) }
        #expect(files == ["a"])
        #expect(!recording.header.isAttached)
        #expect(recording.slices == plain.slices && recording.borders == plain.borders)
        #expect(!recording.notes.contains { $0.kind == .window })
    }

    @Test func prioritiesAreThoseOfTheWindow() throws {
        let (recording, _) = try recorded(last: .milliseconds(3_500)) {
            record($0, priority: { $0 < 8 ? 1 : 2 })
        }
        let priorities = recording.priorities.filter {
            recording.threads[$0.thread.rawValue].tid == 7
        }
        #expect(priorities.first?.time == Self.time(6_500))
        #expect(priorities.first?.nice == 1)
        #expect(priorities.last { $0.time <= Self.time(8_000) }?.nice == 2)
        #expect(priorities.last?.nice == 2)
    }

    /// Waits and runs that cross the parts' border stay whole, and are cut at the window's.
    @Test func waitsAndRunsAreCutAtTheWindow() throws {
        let (recording, _) = try recorded(last: .milliseconds(2_000)) { queue in
            record(
                queue,
                also: { second in
                    if second == 1 {
                        queue.receive(
                            .scheduled([SchedulerRecord(Self.time(1_000), 7, .arrived(core: 1))]))
                    } else if second == 9 {
                        queue.receive(
                            .scheduled([
                                SchedulerRecord(Self.time(9_500), 7, .left(.waiting, core: 1))
                            ]))
                        queue.receive(
                            .wait(
                                Wait(
                                    thread: ThreadIndex(1), start: Self.time(3_000),
                                    end: Self.time(9_000), reason: WaitReason(.other),
                                    systemCall: 1)))
                    }
                })
        }
        let wait = try #require(recording.waits.first)
        #expect(wait.start == Self.time(8_000) && wait.end == Self.time(9_000))
        #expect(recording.threads[wait.thread.rawValue].tid == 8)
        let run = try #require(Array(recording.runs).first)
        #expect(run.start == Self.time(8_000) && run.end == Self.time(9_500) && run.core == 1)
    }

    /// One child lives all the while, and each second another one for half of it.
    @Test(arguments: [1_500, 2_000, 3_300])
    func childrenAreThoseOfTheWindow(milliseconds: Int64) throws {
        let last = TimeSpan.milliseconds(milliseconds)
        let start = Self.time(10_000) - last
        let (recording, _) = try recorded(last: last) { queue in
            let children = FollowedChildren(queue: queue)
            let worker = children.began(70, parent: getpid(), at: Self.time(0))
            begin(70, worker, at: 0)
            record(
                queue,
                also: { second in
                    worker?.receive(Self.sample(0, from: second * 1000, of: 0x777))
                    let short = children.began(71, parent: 70, at: Self.time(second * 1000))
                    begin(71, short, at: second * 1000)
                    short?.receive(Self.sample(0, from: second * 1000, of: 0x888))
                    short?.receive(.threadEnded(ThreadIndex(0), Self.time(second * 1000 + 500)))
                    children.ended(71, Self.outcome(second), at: Self.time(second * 1000 + 500))
                })
            children.ended(70, Self.outcome(77), at: Self.time(10_000))
        }
        let short = (0..<10).filter { Self.time($0 * 1000 + 500) > start }
        #expect(recording.children.map(\.pid) == [70] + short.map { _ in 71 })
        #expect(
            recording.children.map(\.outcome)
                == [.exited(77)] + short.map { .exited(Int32($0)) })
        let parents = [nil] + short.map { _ in Optional(ChildIndex(0)) }
        #expect(recording.children.map(\.parentIndex) == parents)
        let begun = [Self.time(0)] + short.map { Self.time($0 * 1000) }
        for (index, child) in recording.children.enumerated() {
            let isCut = begun[index] < start
            #expect(child.start == max(begun[index], start))
            // Before the window it took some, too: how much is not known.
            #expect(child.cpu == (isCut ? nil : TimeSpan.milliseconds(9)))
            #expect(child.images.map(\.path) == ["/bin/\(child.pid)"])
            #expect(child.borders.map(\.kind) == [isCut ? .attached : .firstInstruction])
            #expect(child.borders.map(\.time) == [child.start])
            let threads = recording.threads.filter { $0.child == ChildIndex(index) }
            #expect(threads.map(\.tid) == [child.pid])
            #expect(recording.mappings.filter { $0.child == ChildIndex(index) }.count == 1)
        }
        let workers = Self.time(10_000) - start
        #expect(
            functions(recording, of: 70)
                == Array(repeating: 0x777, count: Int(workers.nanoseconds / 1_000_000_000)))
        #expect(functions(recording, of: 71).allSatisfy { $0 == 0x888 })
    }

    /// A process may go on without its first thread, whose id is its own.
    @Test func aChildWithoutItsFirstThread() throws {
        let (recording, _) = try recorded(last: .milliseconds(2_000)) { queue in
            let children = FollowedChildren(queue: queue)
            let worker = children.began(70, parent: getpid(), at: Self.time(0))
            begin(70, worker, at: 0)
            worker?.receive(
                .threadStarted(
                    RecordedThread(tid: 72, name: "w", start: Self.time(10), isMain: false)))
            record(
                queue,
                also: { second in
                    if second == 2 {
                        worker?.receive(.threadEnded(ThreadIndex(0), Self.time(2_000)))
                    }
                    worker?.receive(Self.sample(1, from: second * 1000, of: 0x777))
                })
            children.ended(70, Self.outcome(77), at: Self.time(10_000))
        }
        #expect(recording.children.map(\.pid) == [70])
        #expect(recording.threads.filter { $0.child != nil }.map(\.tid) == [72])
        #expect(functions(recording, of: 72) == [0x777, 0x777])
    }

    /// A library that was replaced while it is mapped is the one that it was.
    @Test func aReplacedFileStaysOneModule() throws {
        let scratch = try Scratch()
        try scratch.write("one", to: "lib.so")
        var status = stat()
        try #require(stat(scratch.path("lib.so"), &status) == 0)
        let code = CodeMapping(
            start: 0x80000, end: 0x90000, fileOffset: 0, path: scratch.path("lib.so"),
            inode: UInt64(status.st_ino))
        let (recording, _) = try recorded(last: .milliseconds(2_000)) { queue in
            record(
                queue,
                also: { second in
                    if second == 1 {
                        queue.receive(.mappings([Self.code, code], Self.time(1_000)))
                    } else if second == 5 {
                        unlink(scratch.path("lib.so"))
                    }
                })
        }
        #expect(recording.modules.map(\.path) == [Self.code.path, scratch.path("lib.so")])
        #expect(recording.mappings.map(\.start) == [Self.code.start, code.start])
    }

    private func begin(_ pid: Int32, _ sink: (any SampleSink)?, at milliseconds: Int) {
        let start = Self.time(milliseconds)
        sink?.receive(.began(pid: pid))
        sink?.receive(.image(Image(path: "/bin/\(pid)", arguments: [], time: start)))
        sink?.receive(.border(LaunchBorder(kind: .firstInstruction, time: start)))
        sink?.receive(
            .threadStarted(RecordedThread(tid: pid, name: "c", start: start, isMain: true)))
        sink?.receive(.mappings([Self.code], start))
    }

    private static func outcome(_ status: Int) -> SamplerOutcome {
        SamplerOutcome(
            outcome: .exited(Int32(status)), ticks: 1, missedTicks: 0, samples: SampleTally(),
            lateness: .zero,
            heldByProfiler: .zero, capture: .tree, cpu: .milliseconds(9), account: nil,
            notes: [], markProblems: [])
    }

    /// A file in the place of a part that is not one is not touched.
    @Test func foreignFilesStay() throws {
        let scratch = try Scratch()
        let path = scratch.folder + "/a"
        #expect(throws: Never.self) { try RecordingFile.checkParts(path) }
        try scratch.write("mine", to: "a.before")
        #expect(throws: RecordingError.self) { try RecordingFile.checkParts(path) }
        #expect(throws: RecordingError.self) { try RecordingFile.remove(path + ".before") }
        #expect(scratch.names == ["a.before"])
    }
}
