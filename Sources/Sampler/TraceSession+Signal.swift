import CSystem
import Glibc
import ProfileModel

/// What can be known of a process that is not traced: what ptrace would report, seen from outside.
struct UntracedProcess: ~Copyable {
    private let pid: Int32
    /// Reads nothing any more once the address space that it was opened for is gone.
    private let memory: ProcFile?
    private let probe: UInt64
    private let folder: Int32
    private var links: UInt = 0
    private var ticks = 0

    /// - Parameter probe: an address that can be read as long as the program's image lives.
    init(pid: Int32, probe: UInt64) {
        self.pid = pid
        self.probe = probe
        memory = ProcFile("/proc/\(pid)/mem")
        folder = open("/proc/\(pid)/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }

    deinit {
        if folder >= 0 { close(folder) }
    }

    /// Whether another program took this one's place (or it ended).
    func hasLostImage() -> Bool { memory?.canRead(at: probe) == false }

    /// Whether threads came or went: their folder has a link for each.
    mutating func hasOtherThreads() -> Bool {
        var status = stat()
        guard folder >= 0, fstat(folder, &status) == 0 else { return false }
        ticks += 1
        defer { links = UInt(status.st_nlink) }
        return UInt(status.st_nlink) != links || ticks % 16 == 0
    }
}

/// What must be taken back from the program.
struct Installed {
    let agent: Agent
    /// What the sampling signal did before.
    let original: Agent.Action
}

/// Signal capture: from `main` on the program is not traced, and running threads are asked.
extension TraceSession {
    // MARK: Beginning

    /// At `main`, with its thread stopped there: takes back the breakpoints, and lets go of the
    /// thread if it can be sampled by signal from now on. false: it is still stopped, and traced.
    func leaveMain(_ thread: TracedThread) -> Bool {
        // The program may have set the signal's action in a constructor: then it keeps it.
        let site = SignalActionCall.find(
            in: observer.mappings.code, memory: TargetMemory(pid: pid))
        guard options.capture == .signal, !isLeaving, let watch, threads.count == 1, let site,
            let original = files.samplingSignal
        else {
            try? self.watch?.passedMain()
            return false
        }
        let size = UInt64(SignalCapture.slotSize * SignalCapture.slotCount)
        do throws(SystemError) {
            guard
                try watch.agent.hookSignalActions(at: site, original: original, by: thread.tracee)
                    != nil
            else {
                try self.watch?.passedMain()
                return false
            }
            let entry = try watch.agent.prepareSlots(
                size: size, slotSize: UInt64(SignalCapture.slotSize), by: thread.tracee,
                then: watch.main)
            try watch.passedMain(then: entry)
        } catch {
            return false
        }
        return letGo(of: thread, agent: watch.agent, original: original)
    }

    /// Follows the thread through the agent's entry until the slots are there, and lets it go.
    private func letGo(
        of thread: TracedThread, agent: Agent, original: Agent.Action
    ) -> Bool {
        guard let place = slotsPlace(thread, agent: agent),
            let slots = SharedSlots(
                pid: pid, descriptor: place.descriptor, address: place.address,
                slotSize: SignalCapture.slotSize, count: SignalCapture.slotCount),
            (try? agent.enableSlots(at: place.address, by: thread.tracee)) != nil,
            (try? thread.tracee.detach()) != nil
        else { return false }
        installed = Installed(agent: agent, original: original)
        signalCapture = SignalCapture(pid: pid, slots: slots)
        capture = .signal
        untraced = UntracedProcess(pid: pid, probe: place.address)
        thread.isTraced = false
        thread.phase = .free
        return true
    }

    /// Where the thread has mapped the slots, seen when it is about to close their descriptor.
    private func slotsPlace(
        _ thread: TracedThread, agent: Agent
    ) -> (descriptor: Int32, address: UInt64)? {
        var signal: Int32 = 0
        // Bounded: each of the entry's calls stops twice, signals to the program now and then.
        for _ in 0..<64 {
            guard (try? thread.tracee.resumeToSystemCall(delivering: signal)) != nil else {
                return nil
            }
            var status: Int32 = 0
            guard fl_wait(thread.tid, 0, &status) == thread.tid,
                let event = TraceEvent(status: status)
            else { return nil }
            signal = 0
            switch event {
            case .systemCall:
                guard let registers = try? thread.tracee.registers(),
                    registers.programCounter == agent.closingPosition
                else { continue }
                let descriptor = Int32(truncatingIfNeeded: registers[Agent.descriptorRegister] ?? 0)
                let address = registers[Agent.addressRegister] ?? 0
                // Failures are small negative numbers.
                guard descriptor >= 0, address < UInt64(bitPattern: -4096) else { return nil }
                return (descriptor, address)
            case .signal(let number): signal = number
            case .exited, .killed, .executed, .exiting:
                take(event, of: thread.tid)
                return nil
            default: continue
            }
        }
        return nil
    }

    // MARK: Ticks

    /// Notices what ptrace would have reported: threads that came, another program.
    func followUntraced(at now: MonotonicTime) {
        guard untraced != nil else { return }
        if untraced?.hasLostImage() == true {
            joinNextImage()
            return
        }
        guard untraced?.hasOtherThreads() == true else { return }
        for tid in files.threadIDs() where threads[tid] == nil {
            addThread(tid, start: now, isNew: true).isTraced = false
        }
    }

    func takeAnswer(of thread: TracedThread) {
        guard let answer = signalCapture?.answer(of: thread) else { return }
        _ = observer.sample(answer, of: thread)
    }

    /// Asks a running thread for its stack, or stops it.
    func captureRunning(_ thread: TracedThread) {
        guard signalCapture != nil, !thread.mustBeStopped else { return stop(thread) }
        let bounds = observer.stackBounds(of: thread)
        if signalCapture?.ask(thread, bounds: bounds) == .unsuitable {
            thread.mustBeStopped = true
            stop(thread)
        }
    }

    /// A thread that is not traced ends without telling.
    func forget(_ thread: TracedThread, at now: MonotonicTime) {
        guard !thread.isTraced else { return }
        signalCapture?.forget(thread)
        end(thread, at: now)
        if thread.tid != pid { threads[thread.tid] = nil }
    }

    func stop(_ thread: TracedThread) {
        if !thread.isTraced {
            guard (try? thread.tracee.seize()) != nil else { return }
            thread.isTraced = true
        }
        interrupt(thread)
    }

    // MARK: Other programs

    /// The program that we watched is gone from the process: stops what is there now, if it is
    /// another program and not the end.
    private func joinNextImage() {
        guard let main = threads[pid], files.stat()?.isZombie == false else { return }
        untraced = nil
        signalCapture = nil
        for thread in threads.values where thread.tid != pid {
            end(thread, at: .now)
            threads[thread.tid] = nil
        }
        main.openFiles()
        main.slot = nil
        main.mustBeStopped = false
        main.stackPointer = nil
        hasMissedExec = true
        stop(main)
    }

    /// Whether a stop was the one that ``joinNextImage()`` wanted: the new image begins there.
    func takeMissedExec(_ thread: TracedThread, at now: MonotonicTime) -> Bool {
        guard hasMissedExec, thread.tid == pid else { return false }
        hasMissedExec = false
        thread.phase = .free
        beginImage(at: now)
        return true
    }

    // MARK: The end

    /// Leaves nothing behind in the program: one of its threads takes back the handler and the
    /// slots, on its way.
    func removeSignalCapture() {
        defer {
            signalCapture = nil
            untraced = nil
        }
        guard let capture = signalCapture, let installed, !capture.slots.isDisplaced else { return }
        waitForHandlers(capture)
        let isIdle = !threads.values.contains { capture.isUnderWay($0) }
        for thread in threads.values where thread.phase == .free && canBeStopped(thread) {
            guard let resume = stopNow(thread) else { continue }
            do throws(SystemError) {
                try installed.agent.removeSlots(
                    at: isIdle ? capture.slots.address : 0, restoring: installed.original,
                    by: thread.tracee, then: resume)
            } catch {
                // It goes on as it was; the handler stays, and answers nobody.
            }
            try? thread.tracee.detach()
            return
        }
    }

    /// Requests that are under way are answered as soon as their threads get a core.
    private func waitForHandlers(_ capture: SignalCapture) {
        let deadline = MonotonicTime.now + .milliseconds(50)
        while threads.values.contains(where: { capture.isUnderWay($0) }), .now < deadline {
            var pause = timespec(tv_sec: 0, tv_nsec: 200_000)
            nanosleep(&pause, nil)
        }
    }

    /// Whether a stop leaves the thread as it is: it runs, or waits in a call that is restarted.
    private func canBeStopped(_ thread: TracedThread) -> Bool {
        switch thread.activity() {
        case .running: true
        case .blocked(let call, _):
            call >= 0
                && RestartingCalls.survivesStop(call, process: pid, thread: thread.tid)
        case nil: false
        }
    }

    /// Stops a thread and waits for it; where it would go on. Signals to it are passed on.
    private func stopNow(_ thread: TracedThread) -> UInt64? {
        if !thread.isTraced, (try? thread.tracee.seize()) == nil { return nil }
        thread.isTraced = true
        guard (try? thread.tracee.interrupt()) != nil else { return nil }
        for _ in 0..<64 {
            var status: Int32 = 0
            guard fl_wait(thread.tid, 0, &status) == thread.tid,
                let event = TraceEvent(status: status)
            else { return nil }
            switch event {
            case .stopped: return try? thread.tracee.resumeAddress()
            case .signal(let number): try? thread.tracee.resume(delivering: number)
            default:
                take(event, of: thread.tid)
                if thread.phase == .exited { return nil }
            }
        }
        return nil
    }
}
