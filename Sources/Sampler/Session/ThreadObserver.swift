import Agent
import Architecture
import ProcessIO
import ProfileModel

/// Looks at threads and turns what it sees into samples.
struct ThreadObserver: ~Copyable {
    private let process: any ProcessAccess
    private let stackBytes: Int
    let sink: any SampleSink
    var mappings: MappingWatch
    var waits: WaitWatch
    var nameBudget = NameBudget()
    var interpreters: InterpreterWatch
    /// True if it is a 32-bit program, whose system calls have numbers of their own.
    var isNarrow = false
    /// Where our own code lies in the program.
    var ownCode: Range<UInt64>?
    /// When the recording ended: nothing that is told happened later.
    var end: MonotonicTime?
    private var stacks: StackPlaces
    /// How long threads were held by stops of ours.
    private(set) var heldByProfiler = TimeSpan.zero

    /// Another program has taken over the process: nothing that was known of its memory holds.
    ///
    /// - Parameter isReported: whether the new program's mappings are reported to us.
    mutating func restart(isReported: Bool = false) {
        mappings.restart(isReported: isReported)
        interpreters = InterpreterWatch(of: process)
        stacks = StackPlaces(process)
    }

    init(_ process: any ProcessAccess, stackBytes: Int, sink: any SampleSink) {
        self.process = process
        self.stackBytes = stackBytes
        self.sink = sink
        mappings = MappingWatch(process.addressSpace())
        interpreters = InterpreterWatch(of: process)
        waits = WaitWatch(of: process)
        stacks = StackPlaces(process)
    }

    enum Look {
        /// On its core, or waiting for one: its stack must be captured.
        case running
        /// Off its core: all there is to know was sampled.
        case blocked
        /// It woke up while we looked, or has waited for a core since the last look: nothing new is
        /// known.
        case moving
        case gone
    }

    /// True if a thread seems to be in such a call when a stop of ours was not reported yet: in a
    /// page fault, or in clone and its like (a thread that clones, and the one that it made).
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
        // It has not had a core since it was found blocked: still there.
        if thread.blocked != nil, before.timeslices == thread.clock.counters.timeslices {
            followWait(of: thread, at: now)
            return .blocked
        }
        // It has not gone on from our last stop, and would do nothing but stop again.
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

    /// Samples a running thread from a stack of its.
    ///
    /// - Parameters:
    ///   - known: its counters, read since.
    ///   - frames: an interpreter's, which were found to be its.
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
    /// stack that its memory alone did not tell.
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
            // It has gone on since it was looked at last: what it did then nobody saw.
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
        // Who was blocked has gone on since.
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
        endWait(of: thread, at: start + times.blocked)
        sink.receive(.sample(sample(thread, start, times, content: .none, in: nil)))
        thread.block(nil)
    }

    /// Hands on the time since the last look. If the thread was blocked then, the time that it
    /// stayed blocked belongs to the stack that it had. Only the rest belongs to what it does now.
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
        if let earlier, earlier.serial != blocked?.serial {
            let waited = StateTimes(blocked: times.blocked)
            sink.receive(
                .sample(sample(thread, start, waited, content: .unchanged, in: earlier)))
            start = start + waited.wall
            times.blocked = .zero
            endWait(of: thread, at: start)
        }
        // What it did before it waited is not what it waited in.
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
            // What it did at those looks, this one does not tell.
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

    /// Hands on the names that a sample's frames refer to, before the sample.
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

    /// Where a thread is for its program; nil: in code of ours.
    private func outsideOfOurs(
        _ registers: Registers, word: (UInt64) -> UInt64?
    ) -> Registers? {
        guard let ownCode, ownCode.contains(registers.programCounter) else { return registers }
        return AgentCode.outsideRest(registers, area: ownCode.lowerBound, word: word)
    }

    private mutating func content(
        _ registers: Registers, of thread: TracedThread
    ) -> Sample.Content {
        // Our own code in the program is none of its business.
        let tracee = thread.tracee
        guard
            let registers = outsideOfOurs(
                registers, word: { tracee.memory(at: $0, count: 8).littleEndianWord(at: 0) })
        else { return .none }
        thread.stack.saw(registers.stackPointer)
        let now = process.now
        // While the list was read the program went on: a plugin that was loaded meanwhile may wait in its
        // initialiser.
        if !mappings.isCode(registers.programCounter)
            || mappings.isUnknown(registers.stackPointer, at: now) || mappings.lacksCode()
        {
            rereadMappings(at: now)
        }
        let stack = copyStack(around: registers.stackPointer, by: thread.tracee)
        if stack.bytes.isEmpty {
            // On its way out a process has given up its memory.
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

    /// How much is copied at most if nobody knows how far a stack goes.
    private static let unknownStackBytes = 65536

    /// What lies below the stack pointer and is still needed: what functions may use without moving
    /// the pointer (the psABI's red zone), and what was popped a moment ago, to which unwind tables
    /// still refer.
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
