import Agent
import Architecture
import CSystem
import Glibc
package import Launching
package import ProcessIO
import ProfileModel
import Readiness
import System

/// Starts or joins a process and observes it until the process or the recording ends. Both calls
/// return when the process is released; it may run on.
package enum Sampler {
    /// Starts a program and observes it from its first instruction.
    ///
    /// - Parameters:
    ///   - arguments: the program's name or path, and its arguments.
    ///   - signals: made before the process had any other thread.
    package static func launch(
        _ arguments: [CommandWord], options: SamplerOptions, signals: SignalQueue,
        sink: any SampleSink, children: (any ChildObserver)? = nil
    ) throws(SamplerError) -> SamplerOutcome {
        guard let name = arguments.first else { throw .programNotFound("") }
        let path = try ProgramLookup.resolve(name)
        try ProgramLookup.requireReadable(path)
        if options.capture == .untraced {
            CallSites.prepare()
            // Asked now, rather than while a program waits for the answer.
            _ = EventAvailability.areRefused
        }
        let start = LaunchStart(
            ready: try ReadyWatch(
                launching: options.until, socketFolder: options.child.socketFolder),
            machine: MachineLoad())
        prepareOurselves()
        let area =
            AgentMemory.fits(KernelProcess.ourselves, stackBytes: options.stackBytes)
            ? AgentMemory(stackBytes: options.stackBytes) : nil
        area?.prepare()
        ImageStart.prepare()
        if let planner = options.marks { MarkPlacement.prepare(planner, path.text) }
        start.ticker = try makeTicker(options)
        let held = try HeldProcess(
            path: path, arguments: arguments, signals: signals, setting: start.ready.setting,
            child: options.child, area: area, sites: PreparedSites(path: path.cString))
        options.prepare?(held.pid)
        start.held = consume held
        let parent = ParentThread()
        let result = onTracerThread(serving: parent) { () -> Result<SamplerOutcome, SamplerError> in
            defer { parent?.finish() }
            do throws(SamplerError) {
                guard let held = start.held.take(), let ticker = start.ticker.take() else {
                    throw .systemCall(SystemError("starting a process", code: ESRCH))
                }
                let pid = held.pid
                start.ready.began(pid)
                raiseLimits()
                // Do all that can be done before the program stops at its first instruction.
                let group = ProcessGroup(
                    KernelProcess(pid: pid, parent: parent), options: options, sink: sink,
                    children: children, ready: start.ready, machine: start.machine)
                group.main.context.marks?.isPrepared = true
                _ = group.main.context.sharesNamespace
                let process = try held.execute(options)
                sink.receive(.began(pid: pid))
                group.main.parts.beginnings.beginLaunch(process)
                // From here on nothing fails: the program runs, and the caller waits for its
                // status.
                return .success(run(group, signals, ticker))
            } catch {
                return .failure(error)
            }
        }
        // Without the thread, the child still waits.
        if let held = start.held.take() { held.end() }
        return try unwrap(result)
    }

    /// What the tracer's thread receives. The program is forked before that thread exists, because
    /// the thread ends with the recording. A program that wants to end with its parent
    /// (PR_SET_PDEATHSIG) would be killed when the thread that forked it ends.
    private final class LaunchStart: @unchecked Sendable {
        let ready: ReadyWatch
        let machine: MachineLoad
        var held: HeldProcess?
        var ticker: Ticker?

        init(ready: ReadyWatch, machine: MachineLoad) {
            self.ready = ready
            self.machine = machine
        }
    }

    /// Observes a running process.
    package static func attach(
        to pid: Int32, options: SamplerOptions, signals: SignalQueue, sink: any SampleSink,
        children: (any ChildObserver)? = nil
    ) throws(SamplerError) -> SamplerOutcome {
        try AttachCheck.check(pid)
        let result = onTracerThread { () -> Result<SamplerOutcome, SamplerError> in
            do throws(SamplerError) {
                let ticker = try makeTicker(options)
                prepareOurselves()
                raiseLimits()
                let ready = try ReadyWatch(attachingFor: options.until)
                let machine = MachineLoad()
                let group: ProcessGroup
                do throws(SystemError) {
                    group = ProcessGroup(
                        KernelProcess(pid: pid), options: options, sink: sink, children: children,
                        ready: ready, machine: machine)
                    group.main.context.handle = ProcessHandle(pid)
                    try group.main.parts.beginnings.beginAttached { sink.receive(.began(pid: pid)) }
                    ready.began(pid)
                } catch {
                    throw AttachCheck.explain(pid, error)
                }
                return .success(run(group, signals, ticker))
            } catch {
                return .failure(error)
            }
        }
        return try unwrap(result)
    }

    private static func run(
        _ group: ProcessGroup, _ signals: SignalQueue, _ ticker: consuming Ticker
    ) -> SamplerOutcome {
        SignalWatchdog.begin()
        return group.run(signals, ticker)
    }

    /// Keeps descriptors free for the recording's files, and checks whether there is address space
    /// for it. To be called before anything else is opened for it.
    package static func reserve() throws(SamplerError) {
        try checkAddressSpace()
        do throws(DescriptorReserve.Shortage) {
            try DescriptorReserve.keep()
        } catch {
            throw SamplerError(error)
        }
    }

    /// Room for two threads' stacks, the area, and the data on the program and its functions.
    /// Without memory we would die with the recording. (A program whose functions fill more is rare
    /// under such a limit.)
    private static let addressSpace: UInt64 = 96 << 20

    /// Under a limit, threads share a heap from here on.
    private static func checkAddressSpace() throws(SamplerError) {
        guard let limit = addressSpaceLimit else { return }
        fl_use_one_heap()
        let needed = usedAddressSpace &+ addressSpace
        guard needed <= limit else {
            throw .tooLittleAddressSpace(limit: limit, needed: needed)
        }
    }

    /// The address space beyond a recording's needs, in bytes; nil: there is no limit.
    package static var spareAddressSpace: Int? {
        addressSpaceLimit.map { limit in
            let needed = usedAddressSpace &+ addressSpace
            return Int(clamping: limit > needed ? limit - needed : 0)
        }
    }

    private static var addressSpaceLimit: UInt64? {
        let limit = Self.limit(RLIMIT_AS).rlim_max
        return limit == rlim_t.max ? nil : UInt64(limit)
    }

    private static var usedAddressSpace: UInt64 {
        var buffer = ReadBuffer()
        buffer.read(path: "/proc/self/statm")
        var text = buffer.text
        return UInt64(clamping: text.decimal() ?? 0) &* VirtualMemory.pageSize
    }

    private static func limit(_ resource: __rlimit_resource) -> rlimit {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        return limit
    }

    /// The ticker is made before anything runs: without it there is no recording.
    private static func makeTicker(_ options: SamplerOptions) throws(SamplerError) -> Ticker {
        do throws(SystemError) {
            return try Ticker(frequency: options.frequency)
        } catch {
            throw .systemCall(error)
        }
    }

    private static func unwrap(
        _ result: Result<SamplerOutcome, SamplerError>?
    ) throws(SamplerError) -> SamplerOutcome {
        guard let result else {
            throw .systemCall(SystemError(starting: "the sampling thread", code: EAGAIN))
        }
        return try result.get()
    }

    /// Work that would otherwise be done while a program is stopped.
    private static func prepareOurselves() {
        fl_keep_memory()
        _ = ThreadStatus.ownFilters
    }

    /// Called after the fork, so that the program keeps its own limits. Some descriptors per thread
    /// are kept open: we ask for as many as are allowed (``DescriptorReserve`` counts on that), and
    /// for as much address space.
    /// Reaching a limit of file size is an error like any other.
    private static func raiseLimits() {
        signal(SIGXFSZ, SIG_IGN)
        _ = fl_ask_for_short_turns()
        for resource in [RLIMIT_NOFILE, RLIMIT_AS] {
            var limit = Self.limit(resource)
            limit.rlim_cur = limit.rlim_max
            setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        }
    }
}
