import ProfileModel
import TestSupport

/// Recordings in which every field takes every kind of value that it may have.
struct RandomRecording {
    private var generator: SeededNumbers

    init(seed: UInt64) { generator = SeededNumbers(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    private mutating func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
        Bool.random(using: &generator) ? value() : nil
    }

    private mutating func text() -> String {
        let samples = [
            "", "main", "/usr/lib/x86_64-linux-gnu/libc.so.6", "Grüße, 世界 🔭", "a;b\nc\td",
            "'; DROP TABLE slices; --", "\u{1B}[31mred", "file:x?mode=memory", "%s%n",
        ]
        return (samples.randomElement(using: &generator) ?? "") + String(number(0...99))
    }

    private mutating func time() -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(number(0...(1 << 58))))
    }

    private mutating func span() -> TimeSpan {
        let length = [0, 1, 999_999, 1 << 40][number(0...3)]
        return TimeSpan(nanoseconds: Int64(number(0...length)))
    }

    private mutating func address() -> UInt64 {
        let sample = UInt64.random(in: .min ... .max, using: &generator)
        return [sample, sample >> 17, 0, .max][number(0...3)]
    }

    mutating func make(slices: Int = 200) -> Recording {
        var recording = Recording(header: header())
        recording.images = (0..<number(0...3)).map { _ in
            let arguments = (0..<number(0...4)).map { _ in text() }
            return Image(path: text(), arguments: arguments, time: time())
        }
        let kinds = LaunchBorder.Kind.allCases
        recording.borders = kinds.prefix(8).map { border($0) }
        addChildren(to: &recording)
        recording.threads = (0..<number(1...9)).map { index in
            let start = time()
            let end = start + span()
            return RecordedThread(
                tid: Int32(number(0...Int(Int32.max))), name: text(), start: start,
                end: maybe(end), isMain: index == 0, child: child(recording))
        }
        recording.modules = (0..<number(1...9)).map { _ in
            let bytes = (0..<number(0...20)).map { _ in UInt8(number(0...255)) }
            return Module(path: text(), buildID: bytes)
        }
        recording.mappings = (0..<number(0...20)).map { _ in
            let start = address() & ~1
            return Mapping(
                start: start, end: start + 1, bias: address(),
                module: ModuleIndex(number(0...recording.modules.count - 1)), time: time(),
                child: child(recording))
        }
        for _ in 0..<100 { addStack(to: &recording) }
        addSlices(slices, to: &recording)
        addSymbols(to: &recording)
        addFacts(to: &recording)
        addSchedule(to: &recording)
        recording.notes = RecorderNote.Kind.allCases.shuffled(using: &generator).prefix(
            number(1...9)
        )
        .map { RecorderNote($0, Int64(number(0...(1 << 60)))) }
        // Later kinds are made last, so that a seed's recording stays the same.
        recording.borders += kinds.dropFirst(8).map { border($0) }
        return recording
    }

    private mutating func border(_ kind: LaunchBorder.Kind) -> LaunchBorder {
        let counters = ProcessCounters(
            minorFaults: maybe(Int64(7)), majorFaults: maybe(Int64(0)),
            readBytes: maybe(Int64.max))
        return LaunchBorder(kind: kind, time: time(), counters: counters)
    }

    private mutating func addChildren(to recording: inout Recording) {
        recording.children = (0..<number(0...3)).map { index in
            let start = time()
            var child = ChildProcess(
                pid: Int32(number(1...4_000_000)), parent: Int32(number(0...4_000_000)),
                parentIndex: index == 0 ? nil : maybe(ChildIndex(index - 1)), name: text(),
                start: start, end: maybe(0).map { _ in start + span() },
                cpu: maybe(0).map { _ in span() },
                outcome: [.exited(3), .signalled(9), .running, .unknown][number(0...3)],
                capture: maybe(.ptrace))
            child.images = (0..<number(0...2)).map { _ in
                Image(
                    path: text(), arguments: (0..<number(0...2)).map { _ in text() }, time: time())
            }
            child.borders = (0..<number(0...2)).map { _ in LaunchBorder(kind: .main, time: time()) }
            return child
        }
    }

    private mutating func child(_ recording: Recording) -> ChildIndex? {
        recording.children.isEmpty
            ? nil : maybe(0).map { _ in ChildIndex(number(0...recording.children.count - 1)) }
    }

    private mutating func header() -> Recording.Header {
        var header = Recording.Header(
            pid: Int32(number(1...4_000_000)), isAttached: maybe(0) == nil,
            capture: maybe(CaptureMethod.untraced) ?? .ptrace, frequency: Int32(number(1...10_000)))
        header.ticks = Int64(number(0...100_000))
        header.missedTicks = Int64(number(0...10))
        (header.samples, header.missedSamples) = (Int64(number(0...100_000)), Int64(number(0...10)))
        header.lateness = span()
        header.lostSamples = Int64(number(0...10))
        header.heldByProfiler = span()
        header.outcome =
            [.exited(0), .exited(-1), .signalled(11), .running, .unknown][number(0...4)]
        header.account = SchedulerAccount.allCases.shuffled(using: &generator).first
            .flatMap { maybe($0) }
        header.recorderVersion = text()
        header.importSource = text()
        return header
    }

    private mutating func frame(_ recording: Recording) -> FrameAddress {
        let module = maybe(0).map { _ in
            ModuleIndex(number(0...recording.modules.count - 1))
        }
        let kind = maybe(CodeAddress.Kind.instruction) ?? .returnAddress
        return FrameAddress(module: module, address: CodeAddress(address(), kind))
    }

    private mutating func addStack(to recording: inout Recording) {
        let count = recording.stacks.nodes.count
        let parent = count == 0 ? nil : maybe(0).map { _ in StackID(Int32(number(0...count - 1))) }
        _ = recording.stacks.intern(parent: parent, frame: frame(recording))
    }

    private mutating func addSlices(_ count: Int, to recording: inout Recording) {
        var ends = recording.threads.map { _ in MonotonicTime(nanoseconds: Int64(number(0...999))) }
        for _ in 0..<count {
            let thread = number(0...ends.count - 1)
            let times = StateTimes(
                running: span(), runnable: span(), preempted: span(), blocked: span())
            let slice = Slice(
                thread: ThreadIndex(thread), start: ends[thread], times: times,
                stack: maybe(0).map { _ in
                    StackID(Int32(number(0...recording.stacks.nodes.count - 1)))
                },
                systemCall: maybe(0).map { _ in Int32(number(-1...450)) },
                truncation: maybe(0).flatMap { _ in
                    Truncation.allCases.randomElement(using: &generator)
                })
            ends[thread] = slice.end
            recording.slices.append(slice)
        }
    }

    private mutating func thread(_ recording: Recording) -> ThreadIndex {
        ThreadIndex(number(0...recording.threads.count - 1))
    }

    private mutating func stack(_ recording: Recording) -> StackID {
        StackID(Int32(number(0...recording.stacks.nodes.count - 1)))
    }

    /// At least one of each, so that damage has something to damage.
    private mutating func addFacts(to recording: inout Recording) {
        recording.libraries = (0..<number(1...5)).map { _ in
            LibraryLoad(
                path: text(), start: time(), wall: maybe(0).map { _ in span() },
                size: Int64(number(0...(1 << 60))), requestedBy: maybe(0).map { _ in text() },
                caller: maybe(0).map { _ in stack(recording) }, isInitial: maybe(0) == nil,
                file: maybe(0).map { _ in text() }, child: child(recording),
                isReferenced: maybe(0).map { _ in maybe(0) == nil })
        }
        recording.initializers = (0..<number(1...5)).map { _ in
            let start = time()
            return InitializerRun(
                function: stack(recording), thread: thread(recording), start: start,
                end: start + span(), cpu: span(), isComplete: maybe(0) == nil)
        }
        recording.intervals = (0..<number(1...5)).map { _ in
            let start = time()
            return Interval(
                name: text(), category: text(), subsystem: text(),
                thread: maybe(0).map { _ in thread(recording) }, start: start,
                end: start + span(), isComplete: maybe(0) == nil, child: child(recording))
        }
        recording.signposts = (0..<number(1...5)).map { _ in
            Signpost(
                name: text(), category: text(), subsystem: text(),
                thread: maybe(0).map { _ in thread(recording) }, time: time(),
                child: child(recording))
        }
        recording.ready = maybe(0).map { _ in Readiness(time: time(), by: text()) }
        recording.waits = (0..<number(1...9)).map { _ in wait(recording) }
        recording.priorities = (0..<number(1...5)).map { _ in
            Priority(
                thread: thread(recording), time: time(), policy: Int32(number(0...7)),
                nice: Int32(number(-20...19)), realTime: Int32(number(0...99)))
        }
    }

    private mutating func wait(_ recording: Recording) -> Wait {
        let start = time()
        let kinds = WaitReason.Kind.allCases
        let reason = WaitReason(
            kinds[number(0...kinds.count - 1)], detail: maybe(0).map { _ in text() },
            owner: maybe(0).map { _ in Int32(number(1...4_000_000)) },
            place: maybe(0).map { _ in address() })
        return Wait(
            thread: thread(recording), start: start, end: start + span(), reason: reason,
            systemCall: Int32(number(-1...470)), stack: maybe(0).map { _ in stack(recording) })
    }

    private mutating func addSchedule(to recording: inout Recording) {
        var ends = recording.threads.map { _ in MonotonicTime(nanoseconds: Int64(number(0...99))) }
        for _ in 0..<number(1...30) {
            let thread = thread(recording)
            let start = ends[thread.rawValue] + span()
            let state = ThreadState.allCases[number(0...3)]
            let run = ScheduledRun(
                thread: thread, start: start, end: start + span() + TimeSpan(nanoseconds: 1),
                state: state,
                core: state == .running ? maybe(Int32(7)) : nil)
            ends[thread.rawValue] = run.end
            recording.runs.append(run)
        }
        recording.wakeups = (0..<number(1...9)).map { _ in
            Wakeup(
                thread: thread(recording), time: time(), waker: Int32(number(0...4_000_000)),
                wakerName: text(), wakerThread: maybe(0).map { _ in thread(recording) },
                isInterrupt: maybe(0) == nil)
        }
    }

    private mutating func addSymbols(to recording: inout Recording) {
        for node in recording.stacks.nodes where maybe(0) != nil {
            recording.symbols.frames[node.frame] = (0...number(0...3)).map { position in
                SourceFrame(
                    function: maybe(0).map { _ in text() }, file: maybe(0).map { _ in text() },
                    line: maybe(0).map { _ in Int32(number(1...Int(Int32.max))) },
                    isInlined: position > 0, isUnoptimized: position.isMultiple(of: 2),
                    linkageName: maybe(0).map { _ in text() })
            }
        }
        for index in recording.modules.indices where maybe(0) != nil {
            recording.symbols.modules[ModuleIndex(index)] = ModuleSymbols(
                debugInfoPath: maybe(0).map { _ in text() },
                debugInfoOrigin: maybe(0).map { _ in DebugInfoOrigin.allCases[number(0...3)] },
                symbolOrigin: maybe(0).map { _ in SymbolOrigin.allCases[number(0...3)] },
                remarks: (0..<number(0...ModuleSymbols.mostRemarks)).map { _ in
                    ModuleRemark(ModuleRemark.Kind.allCases[number(0...7)], text())
                })
        }
    }
}
