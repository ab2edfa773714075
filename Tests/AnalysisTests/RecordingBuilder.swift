import ProfileModel
import TestSupport

/// Makes recordings by hand: times in milliseconds after the launch's start, stacks by name.
struct RecordingBuilder {
    var recording: Recording
    private var addresses: [Spot: UInt64] = [:]

    /// The launch's start on the monotonic clock: not 0, so that mixing up the two shows.
    static let origin: Int64 = 5_000_000_000_000

    /// A place in the code, and what was inlined there.
    struct Spot: Hashable {
        var function: String?
        var module = "/home/dev/app"
        var file: String?
        var line: Int32?
        /// Outermost first.
        var inlined: [SourceFrame] = []

        init(
            _ function: String?, _ module: String = "/home/dev/app", file: String? = nil,
            line: Int32? = nil, inlined: [SourceFrame] = []
        ) {
            self.function = function
            self.module = module
            self.file = file
            self.line = line
            self.inlined = inlined
        }
    }

    init(attached: Bool = false, images: [(path: String, milliseconds: Int64)] = []) {
        recording = Recording(
            header: Recording.Header(
                pid: 100, isAttached: attached, capture: .ptrace, frequency: 1000))
        recording.header.outcome = .exited(0)
        for image in images {
            recording.images.append(
                Image(path: image.path, arguments: [image.path], time: Self.at(image.milliseconds)))
        }
    }

    static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: origin + milliseconds * 1_000_000)
    }

    mutating func border(
        _ kind: LaunchBorder.Kind, _ milliseconds: Int64,
        _ counters: ProcessCounters = ProcessCounters()
    ) {
        recording.borders.append(
            LaunchBorder(kind: kind, time: Self.at(milliseconds), counters: counters))
    }

    mutating func thread(
        _ name: String, tid: Int32, from start: Int64 = 0, to end: Int64? = nil,
        isMain: Bool = false
    ) -> ThreadIndex {
        recording.threads.append(
            RecordedThread(
                tid: tid, name: name, start: Self.at(start), end: end.map(Self.at), isMain: isMain))
        return ThreadIndex(recording.threads.count - 1)
    }

    mutating func module(_ path: String) -> ModuleIndex {
        if let known = recording.modules.firstIndex(where: { $0.path == path }) {
            return ModuleIndex(known)
        }
        recording.modules.append(Module(path: path))
        return ModuleIndex(recording.modules.count - 1)
    }

    /// The address of a spot: the same for equal ones, 16 bytes apart for others.
    mutating func address(_ spot: Spot) -> FrameAddress {
        let module = spot.module.isEmpty ? nil : module(spot.module)
        let value = addresses[spot] ?? 0x1000 + 16 * UInt64(addresses.count)
        addresses[spot] = value
        let address = FrameAddress(module: module, address: CodeAddress(value, .instruction))
        if spot.function != nil || spot.file != nil {
            recording.symbols.frames[address] =
                [
                    SourceFrame(
                        function: spot.function, file: spot.file, line: spot.line, isInlined: false)
                ] + spot.inlined
        }
        return address
    }

    /// Outermost first.
    mutating func stack(_ spots: [Spot]) -> StackID? {
        let addresses = spots.map { address($0) }
        return recording.stacks.intern(outermostFirst: addresses)
    }

    mutating func stack(_ names: String...) -> StackID? { stack(names.map { Spot($0) }) }

    /// Adds a slice of `milliseconds` in one state.
    mutating func slice(
        _ thread: ThreadIndex, at start: Int64, running: Int64 = 0, runnable: Int64 = 0,
        preempted: Int64 = 0, blocked: Int64 = 0, _ stack: StackID?, call: Int32? = nil,
        truncation: Truncation? = nil
    ) {
        recording.slices.append(
            Slice(
                thread: thread, start: Self.at(start),
                times: StateTimes(
                    running: .milliseconds(running), runnable: .milliseconds(runnable),
                    preempted: .milliseconds(preempted), blocked: .milliseconds(blocked)),
                stack: stack, systemCall: call, truncation: truncation))
    }
}

extension RecordingBuilder {
    /// An initialiser's run on a thread.
    mutating func initializer(
        _ spot: Spot, _ thread: ThreadIndex, from start: Int64, to end: Int64, cpu: Int64,
        isComplete: Bool = true
    ) {
        guard let function = stack([spot]) else { return }
        recording.initializers.append(
            InitializerRun(
                function: function, thread: thread, start: Self.at(start), end: Self.at(end),
                cpu: .milliseconds(cpu), isComplete: isComplete))
    }

    mutating func interval(
        _ name: String, _ category: String = "", _ thread: ThreadIndex? = nil, from start: Int64,
        to end: Int64, isComplete: Bool = true
    ) {
        recording.intervals.append(
            Interval(
                name: name, category: category, thread: thread, start: Self.at(start),
                end: Self.at(end), isComplete: isComplete))
    }

    mutating func event(
        _ name: String, _ category: String = "", _ thread: ThreadIndex? = nil, at time: Int64
    ) {
        recording.signposts.append(
            Signpost(name: name, category: category, thread: thread, time: Self.at(time)))
    }

    mutating func wait(
        _ thread: ThreadIndex, from start: Int64, to end: Int64, _ reason: WaitReason,
        call: Int32 = 202, _ stack: StackID? = nil
    ) {
        recording.waits.append(
            Wait(
                thread: thread, start: Self.at(start), end: Self.at(end), reason: reason,
                systemCall: call, stack: stack))
    }

    mutating func priority(_ thread: ThreadIndex, at time: Int64, policy: Int32 = 0, nice: Int32) {
        recording.priorities.append(
            Priority(thread: thread, time: Self.at(time), policy: policy, nice: nice, realTime: 0))
    }

    /// What the scheduler told of a thread: states one after the other, each up to a moment.
    mutating func runs(
        _ thread: ThreadIndex, from start: Int64, _ states: (ThreadState, until: Int64)...
    ) {
        var start = start
        for (state, end) in states {
            recording.runs.append(
                ScheduledRun(
                    thread: thread, start: Self.at(start), end: Self.at(end), state: state,
                    core: state == .running ? 0 : nil))
            start = end
        }
        recording.header.account = .wakeups
    }

    /// - Parameter waker: nil: none of the process's, with the id 9.
    mutating func wakeup(
        of thread: ThreadIndex, at time: Int64, by waker: ThreadIndex?, isInterrupt: Bool = false
    ) {
        recording.wakeups.append(
            Wakeup(
                thread: thread, time: Self.at(time),
                waker: waker.map { recording.threads[$0.rawValue].tid } ?? 9, wakerName: "",
                wakerThread: isInterrupt ? nil : waker, isInterrupt: isInterrupt))
    }

    mutating func ready(_ by: String, at time: Int64) {
        recording.ready = Readiness(time: Self.at(time), by: by)
    }
}

/// SplitMix64: the same numbers on every machine.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}

extension RecordingBuilder {
    /// A launch of 100 ms with a few threads whose slices tile their lives, at odd times that no
    /// border divides evenly.
    static func random(seed: UInt64) -> Recording {
        var random = SeededNumbers(seed: seed)
        var builder = RecordingBuilder(images: [("/home/dev/app", 1)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.relocated, 7)
        builder.border(.main, 31)
        builder.border(.ended, 100)
        let names = ["main", "alpha", "beta", "gamma", "delta", "alpha"]
        for index in 0..<4 {
            let thread = builder.thread(
                index == 0 ? "app" : "worker", tid: 100 + Int32(index), from: Int64(index) * 9,
                to: 100, isMain: index == 0)
            var time = at(Int64(index) * 9)
            while time < at(100) {
                let rest = (at(100) - time).nanoseconds
                let wall = min(rest, Int64.random(in: 1...2_999_999, using: &random))
                let cuts = (0..<3).map { _ in Int64.random(in: 0...wall, using: &random) }.sorted()
                let times = StateTimes(
                    running: TimeSpan(nanoseconds: cuts[0]),
                    runnable: TimeSpan(nanoseconds: cuts[1] - cuts[0]),
                    preempted: TimeSpan(nanoseconds: cuts[2] - cuts[1]),
                    blocked: TimeSpan(nanoseconds: wall - cuts[2]))
                let depth = Int.random(in: 0...7, using: &random)
                let spots = (0..<depth).map { _ in
                    Spot(
                        names.randomElement(using: &random), file: "app.c",
                        line: Int32.random(in: 1...3, using: &random))
                }
                builder.recording.slices.append(
                    Slice(
                        thread: thread, start: time, times: times, stack: builder.stack(spots),
                        systemCall: [nil, -1, 0, 202].randomElement(using: &random) ?? nil,
                        truncation: Int.random(in: 0..<20, using: &random) == 0
                            ? .stackLimit : nil))
                time = time + TimeSpan(nanoseconds: wall)
            }
        }
        return builder.recording
    }
}

extension ScheduledRuns {
    /// Changes them as a list, thread by thread.
    mutating func edit(_ body: (inout [ScheduledRun]) -> Void) {
        var list = Array(self)
        body(&list)
        self = ScheduledRuns(list)
    }
}
