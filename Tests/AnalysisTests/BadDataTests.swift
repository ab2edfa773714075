import Analysis
import MadeRecordings
import ProfileModel
import TestSupport
import Testing

/// Recordings come from files: nothing in one may stop the program.
@Suite struct BadDataTests {
    private func builder() -> (RecordingBuilder, ThreadIndex) {
        var builder = RecordingBuilder(images: [("/home/dev/app", 0)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.main, 2)
        builder.border(.ended, 10)
        let main = builder.thread("app", tid: 100, to: 10, isMain: true)
        return (builder, main)
    }

    @Test(arguments: [-1, 1, 4096, .max] as [Int32])
    func stackThatIsNotThere(stack: Int32) {
        var (builder, main) = builder()
        builder.slice(main, at: 2, running: 3, StackID(stack))
        let profile = Profile(builder.recording)
        let tree = profile.topDown(weight: .cpu)
        #expect(tree.nodes.map { tree.function(of: $0).name } == ["[no stack]"])
        #expect(profile.launch.cpu == .milliseconds(3))
    }

    @Test func callersThatComeLater() {
        var (builder, main) = builder()
        let address = builder.address(.init("leaf"))
        // The node is its own caller.
        let cycle = builder.recording.stacks.intern(parent: StackID(0), frame: address)
        let beyond = builder.recording.stacks.intern(parent: StackID(77), frame: address)
        let negative = builder.recording.stacks.intern(parent: StackID(-5), frame: address)
        for (index, stack) in [cycle, beyond, negative].enumerated() {
            builder.slice(main, at: Int64(index) + 2, running: 1, stack)
        }
        let tree = Profile(builder.recording).topDown(weight: .cpu)
        #expect(tree.nodes.map { tree.function(of: $0).name } == ["leaf"])
        #expect(tree.total.running == .milliseconds(3))
    }

    @Test(arguments: [-1, 1, .max, .min] as [Int])
    func threadThatIsNotThere(thread: Int) {
        var (builder, main) = builder()
        builder.slice(ThreadIndex(thread), at: 2, running: 3, builder.stack("main"))
        builder.slice(main, at: 2, running: 1, builder.stack("main"))
        #expect(Profile(builder.recording).launch.cpu == .milliseconds(1))
    }

    @Test func moduleThatIsNotThere() {
        var (builder, main) = builder()
        for module in [-1, 5, Int.max] {
            let address = FrameAddress(
                module: ModuleIndex(module), address: CodeAddress(0, .returnAddress))
            let stack = builder.recording.stacks.intern(outermostFirst: [address])
            builder.slice(main, at: 2, running: 1, stack)
        }
        builder.recording.mappings = [
            Mapping(
                start: .max, end: 0, bias: .max, module: ModuleIndex(-3),
                time: MonotonicTime(nanoseconds: .min))
        ]
        let tree = Profile(builder.recording).topDown(weight: .cpu)
        #expect(tree.nodes.map { tree.function(of: $0).name } == ["0xffffffffffffffff"])
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func timesThatNoMachineHas(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        func any() -> Int64 {
            [.min, .min + 1, -1, 0, 1, 1 << 40, 1 << 62, .max - 1, .max]
                .randomElement(using: &random) ?? 0
        }
        var (builder, main) = builder()
        let stack = builder.stack("main", "leaf")
        builder.recording.threads[main.rawValue].start = MonotonicTime(nanoseconds: any())
        builder.recording.threads[main.rawValue].end = MonotonicTime(nanoseconds: any())
        if Bool.random(using: &random) {
            builder.recording.borders[3].time = MonotonicTime(nanoseconds: any())
        }
        for _ in 0..<6 {
            builder.recording.slices.append(
                Slice(
                    thread: main, start: MonotonicTime(nanoseconds: any()),
                    times: StateTimes(
                        running: TimeSpan(nanoseconds: any()),
                        runnable: TimeSpan(nanoseconds: any()),
                        preempted: TimeSpan(nanoseconds: any()),
                        blocked: TimeSpan(nanoseconds: any())),
                    stack: stack, systemCall: 1))
        }
        let profile = Profile(builder.recording)
        for weight in Weight.allCases {
            _ = profile.bottomUp(weight: weight)
            let tree = profile.topDown(weight: weight)
            #expect(weight.of(tree.total) == weight.of(profile.times(in: .all)))
        }
    }

    @Test func veryDeepStack() {
        var (builder, main) = builder()
        let address = builder.address(.init("recurse"))
        let stack = builder.recording.stacks.intern(
            outermostFirst: repeatElement(address, count: 20_000))
        builder.slice(main, at: 2, running: 8, stack)
        let profile = Profile(builder.recording)
        #expect(profile.heaviestStack(weight: .cpu).entries.count == 20_000)
        #expect(profile.functions(orderedBy: .cpu).map(\.total.running) == [.milliseconds(8)])
    }
}
