import Architecture
import ProfileModel
import Testing
import Unwind

@testable import Recorder
@testable import Sampler

/// The program's memory may contain anything; the recording accepts every result.
@Suite struct FactBuilderTests {
    private static let code: UInt64 = 0x10000

    private static func map(_ unwinder: Unwinder) {
        let mapping = CodeMapping(
            start: code, end: code + 0x10000, fileOffset: 0, path: "", inode: 0)
        _ = unwinder.update([mapping], at: MonotonicTime(nanoseconds: 0))
    }

    private static func time(_ nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds)
    }

    private static func observed(
        _ function: UInt64, thread: Int = 0, from start: Int64 = 5, to end: Int64 = 9
    ) -> ObservedInitializer {
        ObservedInitializer(
            function: function, thread: ThreadIndex(thread), start: time(start), end: time(end),
            cpu: TimeSpan(nanoseconds: 3), isComplete: true)
    }

    private static func facts(threads: Int = 1) -> FactBuilder {
        var facts = FactBuilder()
        facts.threads = threads
        return facts
    }

    @Test func anInitialiserIsAStackOfOneFrame() throws {
        var slices = SliceBuilder(unwinder: Unwinder())
        Self.map(slices.unwinder)
        var facts = Self.facts()
        let run = try #require(
            facts.initializer(Self.observed(Self.code + 16), slices: &slices))
        let frames = slices.stacks.frames(of: run.function)
        #expect(
            frames == [
                FrameAddress(module: nil, address: CodeAddress(Self.code + 16, .instruction))
            ])
        #expect(run.start == Self.time(5) && run.end == Self.time(9))
        #expect(run.cpu == TimeSpan(nanoseconds: 3) && run.isComplete)
        #expect(run.thread == ThreadIndex(0))
    }

    @Test func anInitialiserOfUnknownCodeWaitsForItsMapping() {
        var slices = SliceBuilder(unwinder: Unwinder())
        var facts = Self.facts()
        #expect(facts.initializer(Self.observed(Self.code), slices: &slices) == nil)
        #expect(facts.placed(slices: &slices).isEmpty)
        Self.map(slices.unwinder)
        #expect(facts.placed(slices: &slices).map(\.start) == [Self.time(5)])
        #expect(facts.placed(slices: &slices).isEmpty)
    }

    @Test func initialisersWithoutAPlaceAreKept() {
        var slices = SliceBuilder(unwinder: Unwinder())
        var facts = Self.facts()
        _ = facts.initializer(Self.observed(7), slices: &slices)
        let runs = facts.placed(slices: &slices, evenUnknown: true)
        #expect(
            runs.map { slices.stacks[$0.function].frame }
                == [FrameAddress(module: nil, address: CodeAddress(7, .instruction))])
    }

    @Test(arguments: [
        observed(code, thread: 1), observed(code, thread: -1), observed(code, from: -1),
        observed(code, to: .max),
    ]) func anImpossibleInitialiserIsLeftOut(observed: ObservedInitializer) {
        var slices = SliceBuilder(unwinder: Unwinder())
        Self.map(slices.unwinder)
        var facts = Self.facts()
        #expect(facts.initializer(observed, slices: &slices) == nil)
        #expect(facts.placed(slices: &slices, evenUnknown: true).isEmpty)
    }

    @Test func intervalsAreMendedOrLeftOut() throws {
        let facts = Self.facts(threads: 2)
        var interval = Interval(
            name: "a", category: "launch", subsystem: "s", thread: ThreadIndex(1),
            start: Self.time(10), end: Self.time(20))
        #expect(facts.interval(interval) == interval)
        interval.end = Self.time(4)
        interval.thread = ThreadIndex(2)
        let mended = try #require(facts.interval(interval))
        #expect(mended.end == interval.start && mended.thread == nil)
        interval.start = Self.time(-1)
        #expect(facts.interval(interval) == nil)
        interval.start = Self.time(1)
        interval.end = Self.time(.max)
        #expect(facts.interval(interval) == nil)
    }

    @Test func signpostsAreMendedOrLeftOut() {
        let facts = Self.facts()
        var signpost = Signpost(
            name: "a", category: "b", thread: ThreadIndex(-3), time: Self.time(1))
        #expect(facts.signpost(signpost)?.thread == nil)
        #expect(facts.signpost(signpost)?.name == "a")
        signpost.time = Self.time(.min)
        #expect(facts.signpost(signpost) == nil)
    }

    @Test func readinessCountsOnce() {
        let ready = Readiness(time: Self.time(1), by: "notify")
        #expect(Self.facts().readiness(ready, isFirst: true) == ready)
        #expect(Self.facts().readiness(ready, isFirst: false) == nil)
        let never = Readiness(time: Self.time(-1), by: "notify")
        #expect(Self.facts().readiness(never, isFirst: true) == nil)
    }

    @Test func aLibraryHasItsFileAndItsCaller() throws {
        var slices = SliceBuilder(unwinder: Unwinder())
        Self.map(slices.unwinder)
        let facts = Self.facts()
        var registers = Registers(programCounter: Self.code + 1, stackPointer: 0x7000)
        registers[Registers.framePointer] = 0x7000
        let snapshot = Snapshot(
            registers: registers,
            stack: StackCopy(start: 0x7000, bytes: [UInt8](repeating: 0, count: 16)))
        let load = LibraryLoad(
            path: "/proc/self/exe", start: Self.time(1), wall: TimeSpan(nanoseconds: -1), size: 5,
            isInitial: false)
        let result = try #require(
            facts.library(
                ObservedLibrary(load: load, caller: snapshot), pid: 1, slices: &slices))
        let caller = try #require(result.caller)
        #expect(slices.stacks[caller].frame.address.value == Self.code + 1)
        #expect(result.wall == nil)
        #expect(result.file?.hasPrefix("/") == true && result.file != "/proc/self/exe")
        var virtual = load
        virtual.path = "linux-vdso.so.1"
        let vdso = facts.library(ObservedLibrary(load: virtual), pid: 1, slices: &slices)
        #expect(vdso?.file == nil && vdso?.caller == nil)
        virtual.size = -1
        #expect(
            facts.library(ObservedLibrary(load: virtual), pid: 1, slices: &slices) == nil)
    }

    @Test func waitsAreMendedOrLeftOut() {
        let facts = Self.facts()
        func wait(
            thread: Int = 0, from start: Int64 = 5, to end: Int64 = 9, owner: Int32? = nil,
            detail: String? = nil, call: Int32 = 0
        ) -> Wait? {
            facts.wait(
                Wait(
                    thread: ThreadIndex(thread), start: Self.time(start), end: Self.time(end),
                    reason: WaitReason(.file, detail: detail, owner: owner), systemCall: call),
                stack: StackID(3))
        }
        #expect(wait()?.stack == StackID(3))
        #expect(wait(thread: 1) == nil && wait(thread: -1) == nil)
        #expect(wait(from: 9, to: 5) == nil && wait(from: -1) == nil)
        #expect(wait(to: .max) == nil && wait(call: -2) == nil)
        #expect(wait(owner: 0)?.reason.owner == nil && wait(owner: 7)?.reason.owner == 7)
        let long = String(repeating: "x", count: RecordedText.longest + 1)
        #expect(wait(detail: long)?.reason.detail?.utf8.count == RecordedText.longest)
    }

    @Test func prioritiesOfUnknownThreadsAreLeftOut() {
        let facts = Self.facts()
        func priority(thread: Int, at time: Int64 = 5) -> Priority? {
            facts.priority(
                Priority(
                    thread: ThreadIndex(thread), time: Self.time(time), policy: 0, nice: 0,
                    realTime: 0))
        }
        #expect(priority(thread: 0) != nil)
        #expect(priority(thread: 1) == nil && priority(thread: 0, at: -1) == nil)
    }
}
