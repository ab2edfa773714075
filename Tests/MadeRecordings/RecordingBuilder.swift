package import ProfileModel

/// Makes recordings by hand: times in milliseconds after the launch's start, stacks by name.
package struct RecordingBuilder {
    package var recording: Recording
    private var addresses: [Spot: UInt64] = [:]

    /// The launch's start on the monotonic clock: not 0, so that mixing up the two shows.
    package static let origin: Int64 = 5_000_000_000_000

    /// A place in the code, and the functions inlined there.
    package struct Spot: Hashable {
        package var function: String?
        package var module = "/home/dev/app"
        package var file: String?
        package var line: Int32?
        /// Outermost first.
        package var inlined: [SourceFrame] = []

        package init(
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

    package init(attached: Bool = false, images: [(path: String, milliseconds: Int64)] = []) {
        recording = Recording(
            header: Recording.Header(
                pid: 100, isAttached: attached, capture: .ptrace, frequency: 1000))
        recording.header.outcome = .exited(0)
        for image in images {
            recording.images.append(
                Image(path: image.path, arguments: [image.path], time: Self.at(image.milliseconds)))
        }
    }

    package static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: origin + milliseconds * 1_000_000)
    }

    package mutating func border(
        _ kind: LaunchBorder.Kind, _ milliseconds: Int64,
        _ counters: ProcessCounters = ProcessCounters()
    ) {
        recording.borders.append(
            LaunchBorder(kind: kind, time: Self.at(milliseconds), counters: counters))
    }

    package mutating func thread(
        _ name: String, tid: Int32, from start: Int64 = 0, to end: Int64? = nil,
        isMain: Bool = false
    ) -> ThreadIndex {
        recording.threads.append(
            RecordedThread(
                tid: tid, name: name, start: Self.at(start), end: end.map(Self.at), isMain: isMain))
        return ThreadIndex(recording.threads.count - 1)
    }

    package mutating func module(_ path: String) -> ModuleIndex {
        if let known = recording.modules.firstIndex(where: { $0.path == path }) {
            return ModuleIndex(known)
        }
        recording.modules.append(Module(path: path))
        return ModuleIndex(recording.modules.count - 1)
    }

    /// The address of a spot: the same for equal ones, 16 bytes apart for others.
    package mutating func address(_ spot: Spot) -> FrameAddress {
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
    package mutating func stack(_ spots: [Spot]) -> StackID? {
        let addresses = spots.map { address($0) }
        return recording.stacks.intern(outermostFirst: addresses)
    }

    package mutating func stack(_ names: String...) -> StackID? { stack(names.map { Spot($0) }) }

    /// Adds a slice of `milliseconds` in one state.
    package mutating func slice(
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
    package mutating func initializer(
        _ spot: Spot, _ thread: ThreadIndex, from start: Int64, to end: Int64, cpu: Int64,
        isComplete: Bool = true
    ) {
        guard let function = stack([spot]) else { return }
        recording.initializers.append(
            InitializerRun(
                function: function, thread: thread, start: Self.at(start), end: Self.at(end),
                cpu: .milliseconds(cpu), isComplete: isComplete))
    }

    package mutating func interval(
        _ name: String, _ category: String = "", _ thread: ThreadIndex? = nil, from start: Int64,
        to end: Int64, isComplete: Bool = true
    ) {
        recording.intervals.append(
            Interval(
                name: name, category: category, thread: thread, start: Self.at(start),
                end: Self.at(end), isComplete: isComplete))
    }

    package mutating func event(
        _ name: String, _ category: String = "", _ thread: ThreadIndex? = nil, at time: Int64
    ) {
        recording.signposts.append(
            Signpost(name: name, category: category, thread: thread, time: Self.at(time)))
    }

    package mutating func wait(
        _ thread: ThreadIndex, from start: Int64, to end: Int64, _ reason: WaitReason,
        call: Int32 = 202, _ stack: StackID? = nil
    ) {
        recording.waits.append(
            Wait(
                thread: thread, start: Self.at(start), end: Self.at(end), reason: reason,
                systemCall: call, stack: stack))
    }

    package mutating func priority(
        _ thread: ThreadIndex, at time: Int64, policy: Int32 = 0, nice: Int32
    ) {
        recording.priorities.append(
            Priority(thread: thread, time: Self.at(time), policy: policy, nice: nice, realTime: 0))
    }

    /// The scheduler's account of a thread: states one after the other, each up to a moment.
    package mutating func runs(
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
    package mutating func wakeup(
        of thread: ThreadIndex, at time: Int64, by waker: ThreadIndex?, isInterrupt: Bool = false
    ) {
        recording.wakeups.append(
            Wakeup(
                thread: thread, time: Self.at(time),
                waker: waker.map { recording.threads[$0.rawValue].tid } ?? 9, wakerName: "",
                wakerThread: isInterrupt ? nil : waker, isInterrupt: isInterrupt))
    }

    package mutating func ready(_ by: String, at time: Int64) {
        recording.ready = Readiness(time: Self.at(time), by: by)
    }
}
