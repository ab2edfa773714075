import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Looks at threads and makes samples of them.
struct ThreadObserver: ~Copyable {
    private let process: any ProcessAccess
    private let stackBytes: Int
    private let sampleInterval: Int64
    let sink: any SampleSink
    var mappings: MappingWatch
    var waits: WaitWatch
    var nameBudget = NameBudget()
    var interpreters: InterpreterWatch
    /// True if it is a 32-bit program, whose system calls have numbers of their own.
    var isNarrow = false
    /// Where our own code lies in the program.
    var ownCode: Range<UInt64>?
    /// When the recording ended: no later time is reported.
    var end: MonotonicTime?
    private var stacks: StackPlaces
    /// How long threads were held by stops of ours.
    private(set) var heldByProfiler = TimeSpan.zero

    /// Another program has taken over the process: drops all that was known of its memory.
    ///
    /// - Parameter isReported: whether the new program's mappings are reported to us.
    mutating func restart(isReported: Bool = false) {
        mappings.restart(isReported: isReported)
        interpreters = InterpreterWatch(of: process)
        stacks = StackPlaces(process)
    }

    init(_ process: any ProcessAccess, options: SamplerOptions, sink: any SampleSink) {
        self.process = process
        stackBytes = options.stackBytes
        sampleInterval = options.sampleInterval
        self.sink = sink
        mappings = MappingWatch(process.addressSpace())
        interpreters = InterpreterWatch(of: process)
        waits = WaitWatch(of: process)
        stacks = StackPlaces(process)
    }

    enum Look {
        /// On its core, or waiting for one: its stack must be captured.
        case running
        /// Off its core; its stack has been taken.
        case blocked
        /// It woke up while we looked, or has waited for a core since the last look: nothing new is
        /// known.
        case moving
        case gone
    }

    /// True for the calls in which a thread seems to be while a stop of ours is not reported yet: a
    /// page fault, or clone and its like (a thread that clones, and the one that it made).
    private static func mayBeStop(_ call: Int32) -> Bool {
        switch SystemCall(rawValue: call) {
        case .clone, .fork, .vfork, .clone3: true
        case nil: call == SystemCall.outside
        default: false
        }
    }

    /// Looks at a thread that was not stopped. A blocked thread is left alone: its stack has not
    /// changed, or can be read from its memory.
    ///
    /// - Parameters:
    ///   - before: its counters, read just now.
    ///   - now: when they were read.
    mutating func look(
        at thread: TracedThread, _ before: SchedulerCounters, at now: MonotonicTime
    ) -> Look {
        // The thread has had no core since it was found blocked, so it still is.
        if thread.blocked != nil, before.timeslices == thread.clock.counters.timeslices {
            followWait(of: thread, at: now)
            return .blocked
        }
        // The thread has not run since our last stop, and would only stop again.
        if before.timeslices == thread.tracing.coresAtStop { return .moving }
        guard let activity = thread.activity() else { return .gone }
        guard case .blocked(let number, let registers) = activity else { return .running }
        let call = isNarrow ? SystemCall.narrow(number) : number
        let state = Self.mayBeStop(call) ? thread.state : nil
        if state == UInt8(ascii: "t") { return .moving }
        let position = TracedThread.Position(
            systemCall: call, stackPointer: registers.stackPointer,
            programCounter: registers.programCounter)
        let isResumed = thread.isSameBlocking(at: position)
        thread.forgetRefinement()
        let content = isResumed ? .unchanged : content(registers, of: thread)
        // All that was read belongs together only if the thread had no core meanwhile; else it is
        // a matter for the next tick.
        guard let after = thread.counters(), after.timeslices == before.timeslices else {
            return .moving
        }
        let kind = RestartingCalls.kind(of: call, registers, process: process)
        thread.sawWait(kind, in: call, registers, at: process.now)
        thread.statuses.learnMask(asleepIn: call, after)
        let blocked = isResumed ? thread.blocked : thread.nextBlocking(at: position, kind: kind)
        let original = isResumed ? call : RestartedCall.original(of: call, registers, thread.tracee)
        let seen = process.now
        let length = emit(thread, at: seen, now: blocked, content: content, counters: after)
        if !isResumed {
            thread.keep(
                OpenWait(
                    start: seen + (.zero - length), seen: seen, systemCall: original,
                    registers: registers, isUninterruptible: state == UInt8(ascii: "D")))
        }
        followWait(of: thread, at: seen)
        return .blocked
    }

    /// Samples a thread that is stopped, from its registers.
    ///
    /// - Parameter stoppedSince: the earliest moment at which our interrupt can have stopped it.
    /// - Returns: the moment for which the sample stands.
    @discardableResult
    mutating func sampleStopped(
        _ thread: TracedThread, stoppedSince: MonotonicTime? = nil
    ) throws(SystemError) -> MonotonicTime {
        let registers = try thread.tracee.registers()
        let now = process.now
        thread.saw(registers, at: now)
        watchMappings(at: now)
        if let stoppedSince, let counters = thread.counters() {
            // It may have waited for a core before it could stop.
            addHold(now - stoppedSince - thread.clock.delay(since: counters), to: thread)
        }
        emit(thread, at: now, now: nil, content: content(registers, of: thread))
        return now
    }

    /// Samples a running thread from a captured stack.
    ///
    /// - Parameters:
    ///   - known: its counters, read since.
    ///   - frames: the interpreter's frames, checked to be this thread's.
    mutating func sample(
        _ captured: CapturedStack, of thread: TracedThread, _ known: SchedulerCounters,
        frames: RuntimeCopy?
    ) {
        var snapshot = captured.snapshot
        snapshot.frames = frames
        snapshot.registers =
            outsideOfOurs(captured.registers) {
                captured.stack.bytes.littleEndianWord(
                    at: Int(clamping: $0 &- captured.stack.start))
            } ?? captured.registers
        thread.stack.saw(snapshot.registers.stackPointer)
        let code = snapshot.registers.programCounter
        if !mappings.isCode(code) { rereadMappings(at: process.now) }
        var content = Sample.Content.missing(.unreadable)
        if ownCode?.contains(code) == true {
            content = .none
        } else if !captured.stack.bytes.isEmpty {
            content = .snapshot(snapshot)
        }
        // The kernel's own figure of a running thread lags; its CPU clock does not.
        var counters = known
        counters.run = thread.clock.believable(captured.cpu, at: process.now)
        let time = min(max(captured.time, thread.clock.time), end ?? process.now)
        emit(thread, at: time, now: nil, content: content, counters: counters)
    }

    /// Where the stack lies that a thread was last seen on.
    mutating func stackPlace(of thread: TracedThread) -> StackPlace {
        guard let pointer = thread.stack.pointer else { return StackPlace() }
        let now = process.now
        if mappings.isUnknown(pointer, at: now) { rereadMappings(at: now) }
        guard let region = mappings.region(around: pointer) else { return StackPlace() }
        return stacks.place(of: thread, at: pointer, in: region)
    }

    /// Reads the registers of a thread that was stopped in the middle of being blocked, for the
    /// stack that its memory alone did not show.
    mutating func refine(_ thread: TracedThread) throws(SystemError) {
        guard let blocked = thread.blocked else { return }
        let registers = try thread.tracee.registers()
        let (start, times) = thread.advance(to: process.now, isRunning: false)
        let content = content(registers, of: thread)
        tellNames(of: content)
        sink.receive(.sample(sample(thread, start, times, content: content, in: blocked)))
        thread.refined()
    }

    /// At a recording's end: charges the time up to `now` to the stack that the thread had.
    mutating func close(_ thread: TracedThread, at now: MonotonicTime) {
        if thread.blocked != nil, let counters = thread.counters(),
            counters.timeslices != thread.clock.counters.timeslices
        {
            // The thread has run since the last look; its stack at that time is unknown.
            emit(thread, at: now, now: nil, content: .following, counters: counters)
        } else {
            emit(thread, at: now, now: thread.blocked, content: .unchanged)
        }
        endWait(of: thread, at: now)
    }

    /// The same for a thread that has ended, while its last figures can still be read.
    mutating func closeEnded(
        _ thread: TracedThread, at end: MonotonicTime, _ counters: SchedulerCounters
    ) {
        // A thread that was blocked has run since.
        emit(
            thread, at: end, now: nil, content: thread.blocked == nil ? .unchanged : .following,
            counters: counters)
        endWait(of: thread, at: end)
    }

    /// Charges the time up to the end of a thread that ended untraced. It goes to the stack that
    /// the thread had, if the thread went on without a pause.
    mutating func closeAfterEnd(of thread: TracedThread) {
        guard let end = thread.tally.end, end > thread.clock.time else { return }
        let tally = thread.tally
        var counters = thread.clock.counters
        counters.run &+= tally.running.nanoseconds
        counters.delay &+= tally.wantedCore.nanoseconds
        let isSameStretch = thread.blocked == nil && !tally.hasWaited && !thread.isUnsampled
        emit(
            thread, at: end, now: nil, content: isSameStretch ? .unchanged : .following,
            counters: counters)
    }

    /// Charges the time up to `now` to no stack: before `exec`, or when its memory is gone.
    ///
    /// - Parameter counters: its counters then, if they are known.
    mutating func closeWithoutStack(
        _ thread: TracedThread, at now: MonotonicTime, counters: SchedulerCounters? = nil
    ) {
        let (start, times) = thread.advance(to: now, isRunning: false, counters: counters)
        thread.samplesTaken.skip()
        endWait(of: thread, at: start + times.blocked)
        sink.receive(.sample(sample(thread, start, times, content: .none, in: nil)))
        thread.block(nil)
    }

    /// Passes on the time since the last look. If the thread was blocked then, the time that it
    /// stayed blocked belongs to the stack that it had. Only the rest belongs to its present stack.
    ///
    /// - Parameter blocked: the stretch of being blocked that the thread is in now, if any.
    /// - Returns: for how long it has been in that stretch.
    @discardableResult
    private mutating func emit(
        _ thread: TracedThread, at now: MonotonicTime, now blocked: TracedThread.Blocking?,
        content: Sample.Content, counters: SchedulerCounters? = nil
    ) -> TimeSpan {
        let earlier = thread.blocked
        var (start, times) = thread.advance(
            to: now, isRunning: blocked == nil, counters: counters)
        thread.samplesTaken.ran(
            times.running, isSampled: blocked == nil && content.isSnapshot,
            interval: sampleInterval)
        if let earlier, earlier.serial != blocked?.serial {
            let waited = StateTimes(blocked: times.blocked)
            sink.receive(
                .sample(sample(thread, start, waited, content: .unchanged, in: earlier)))
            start = start + waited.wall
            times.blocked = .zero
            endWait(of: thread, at: start)
        }
        // The stack in which the thread waits does not explain the time before the wait.
        let isNewWait = blocked != nil && blocked?.serial != earlier?.serial
        if isNewWait, times.blocked != times.wall {
            var active = times
            active.blocked = .zero
            let unknown: Sample.Content =
                thread.isUnsampled ? .missing(.notSampled) : .following
            sink.receive(.sample(sample(thread, start, active, content: unknown, in: nil)))
            start = start + active.wall
            times = StateTimes(blocked: times.blocked)
        }
        if blocked == nil, thread.unsampledLooks > 1 {
            // This look does not show what the thread did at the skipped looks.
            let looks = Int64(thread.unsampledLooks)
            var skipped = times
            skipped.running.nanoseconds -= times.running.nanoseconds / (looks + 1)
            times = StateTimes(running: times.running - skipped.running)
            sink.receive(
                .sample(
                    sample(thread, start, skipped, content: .missing(.notSampled), in: nil)))
            start = start + skipped.wall
        }
        thread.forgetUnsampledLooks()
        thread.block(blocked)
        tellNames(of: content)
        sink.receive(.sample(sample(thread, start, times, content: content, in: blocked)))
        return times.blocked
    }

    /// Passes on the names that a sample's frames refer to, before the sample.
    private func tellNames(of content: Sample.Content) {
        guard case .snapshot(let snapshot) = content, let frames = snapshot.frames,
            let names = interpreters.newNames(in: frames)
        else { return }
        sink.receive(.named(names))
    }

    private func sample(
        _ thread: TracedThread, _ start: MonotonicTime, _ times: StateTimes,
        content: Sample.Content, in blocked: TracedThread.Blocking?
    ) -> Sample {
        Sample(
            thread: thread.index, start: start, times: times, content: content,
            systemCall: blocked?.position.systemCall, blocking: blocked?.serial ?? 0)
    }

    /// A thread's registers as its program sees them; nil: in code of ours.
    private func outsideOfOurs(
        _ registers: Registers, word: (UInt64) -> UInt64?
    ) -> Registers? {
        guard let ownCode, ownCode.contains(registers.programCounter) else { return registers }
        return AgentCode.outsideRest(registers, area: ownCode.lowerBound, word: word)
    }

    private mutating func content(
        _ registers: Registers, of thread: TracedThread
    ) -> Sample.Content {
        // Our own code in the program does not belong to the program's stacks.
        let tracee = thread.tracee
        guard
            let registers = outsideOfOurs(
                registers, word: { tracee.memory(at: $0, count: 8).littleEndianWord(at: 0) })
        else { return .none }
        thread.stack.saw(registers.stackPointer)
        let now = process.now
        // The program ran while the list was read: a plugin that was loaded meanwhile may wait in
        // its initialiser.
        if !mappings.isCode(registers.programCounter)
            || mappings.isUnknown(registers.stackPointer, at: now) || mappings.lacksCode()
        {
            rereadMappings(at: now)
        }
        let stack = copyStack(around: registers.stackPointer, by: thread.tracee)
        if stack.bytes.isEmpty {
            // An ending process has given up its memory.
            return process.hasProgram ? .missing(.unreadable) : .none
        }
        return .snapshot(
            Snapshot(
                registers: registers, stack: stack,
                interrupted: interruptedStack(
                    behind: stack, at: registers.stackPointer, by: thread.tracee),
                frames: interpreters.copy(
                    of: thread.tid, ran: thread.clock.counters.run, at: now)))
    }

    /// How much is copied at most if the end of a stack is unknown.
    private static let unknownStackBytes = 65536

    /// The memory below the stack pointer that is still needed: functions may use it without moving
    /// the pointer (the psABI's red zone), and it holds values popped a moment ago, to which unwind
    /// tables still refer.
    private static var redZone: UInt64 { UInt64(CallingConvention.redZone) }

    private func copyStack(around pointer: UInt64, by thread: any ThreadAccess) -> StackCopy {
        guard let region = mappings.region(around: pointer) else {
            return StackCopy(
                start: pointer,
                bytes: thread.stack(
                    at: pointer, count: Self.unknownStackBytes, absent: .unknown))
        }
        let start = max(region.start, pointer > Self.redZone ? pointer - Self.redZone : 0)
        let limit = region.isStack ? stackBytes : min(stackBytes, Self.unknownStackBytes)
        return StackCopy(
            start: start,
            bytes: thread.stack(
                at: start, count: Int(min(region.end - start, UInt64(limit))),
                absent: region.absent))
    }

    /// The stack that a signal handler interrupted, if the handler runs on an alternate one.
    private func interruptedStack(
        behind stack: StackCopy, at stackPointer: UInt64, by thread: any ThreadAccess
    ) -> StackCopy? {
        guard
            let pointer = SignalFrame.interruptedStackPointer(
                behind: stack, at: stackPointer)
        else { return nil }
        let copy = copyStack(around: pointer, by: thread)
        return copy.bytes.isEmpty ? nil : copy
    }

    mutating func addHold(_ span: TimeSpan, to thread: TracedThread) {
        thread.addHold(span)
        heldByProfiler = heldByProfiler + max(.zero, span)
    }
}
