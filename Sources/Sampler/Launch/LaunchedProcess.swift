import CSystem
import Glibc
import ProfileModel
import System

/// A child that waits to become the program.
struct HeldProcess: ~Copyable {
    let pid: Int32
    let path: CommandWord
    let arguments: [CommandWord]
    let signals: SignalQueue
    let release: Int32
    let failure: Int32
    /// The memory that it passes on to the program.
    let area: InheritedArea?
    private let ignoresSampleSignal: Bool
    let sites: PreparedSites?
    /// Reports which files the child opens (``ChildSetting/tellsOpens``); the caller must close it.
    let opensListener: Int32?

    /// Starts the child. It has our directory, limits, environment and descriptors, except where
    /// `setting` and `child` differ; its signal mask is the one that we were started with. When
    /// this returns, it has entered what `child` asks for, so that this delays no launch.
    ///
    /// - Parameters:
    ///   - sites: where a static program makes its system calls.
    ///   - starter: the thread whose child it becomes, which shares our memory until it executes
    ///     the program. nil: the calling thread's, with a copy of our memory.
    init(
        path: CommandWord, arguments: [CommandWord], signals: SignalQueue,
        setting: borrowing ProgramSetting, child: ChildSetting = ChildSetting(),
        area: Area? = nil, sites: PreparedSites?, by starter: StarterThread? = nil
    ) throws(SamplerError) {
        self.path = path
        self.arguments = arguments
        self.signals = signals
        self.sites = sites
        let number = area == nil ? -1 : fl_free_descriptor(Self.leastNumber)
        ignoresSampleSignal = signals.ignoredSignals & 1 << UInt64(SIGURG - 1) != 0
        self.area = number < 0 ? nil : area.map { InheritedArea(area: $0, descriptor: number) }
        var release: Int32 = -1
        var failure: Int32 = -1
        var listener: Int32 = -1
        let start = try ChildStart(
            path: path, arguments: arguments,
            environment: setting.environment(changing: child.environment),
            streams: setting.streams, signals: signals,
            memory: self.area?.area.inheritable ?? -1, number: number)
        let pid = child.withEntry(listener: &listener) { entry in
            // A user namespace would make our own memory another user's.
            start.spawn(
                entry, by: child.namespaces.isEmpty ? starter : nil, &release, &failure)
        }
        guard pid > 0 else {
            throw .systemCall(SystemError(starting: "a process", code: -pid))
        }
        opensListener = listener < 0 ? nil : listener
        self.pid = pid
        self.release = release
        self.failure = failure
    }

    /// The lowest number for the descriptor: programs do not expect inherited ones there.
    private static let leastNumber: Int32 = 200

    /// Traces the child and releases it to execute the program, up to the program's first
    /// instruction.
    ///
    /// - Parameter options: tell whether the processes that it forks are traced, too, and whether
    ///   the scheduler is asked.
    consuming func execute(_ options: SamplerOptions) throws(SamplerError) -> StartedProcess {
        let tracee = Tracee(tid: pid)
        let main: TracedThread
        let schedule: SchedulerReader?
        let tree: TreeSamples?
        do throws(SystemError) {
            // Whatever the kernel switches on for this delays nobody here.
            schedule =
                options.asksScheduler
                ? SchedulerReader(
                    pid: pid, threads: [pid], followsChildren: options.followsChildren)
                : nil
            // With this, no process need be stopped for samples of children.
            let news = options.mayBeToldOfChildren ? try? TreeNews(of: pid) : nil
            tree =
                options.followsChildren && options.capture == .signal
                ? try? TreeSamples(
                    of: pid, interval: options.sampleInterval, news: news,
                    tellsSwitches: news != nil && options.asksScheduler
                        && schedule?.seesMachine != true) : nil
            if tree?.news != nil || !options.followsChildren {
                try tracee.seize()
            } else if tree == nil {
                try tracee.seize(followingChildren: true)
            } else {
                try tracee.seizeWithChildren()
            }
            // The program's launch begins here: the child exists, and nothing holds it.
            main = TracedThread(
                KernelThread(process: pid, tid: pid), index: ThreadIndex(0), start: .now,
                isNew: false)
            fl_release_held(release)
            try waitForProgram(tracee)
        } catch {
            end()
            throw .systemCall(error)
        }
        let reached = MonotonicTime.now
        var code: Int32 = 0
        let hasFailed = fl_read_int(failure, &code) == 1
        close(failure)
        if hasFailed { throw ProgramLookup.explain(path: path.text, code: code) }
        let executable = realpath(path.cString, nil)
        defer { free(executable) }
        return StartedProcess(
            image: Image(
                path: executable.map { String(cString: $0) } ?? path.text,
                arguments: arguments.map(\.text), time: reached),
            main: main, firstInstruction: reached, area: area,
            ignoresSampleSignal: ignoresSampleSignal, sites: sites, schedule: schedule, tree: tree)
    }

    /// Ends the child after a failure before there was a program.
    func end() {
        kill(pid, SIGKILL)
        close(failure)
        var status: Int32 = 0
        // The child may be stuck in the kernel: then our own end does the rest.
        for _ in 0..<20 where fl_wait(pid, 1, &status) == 0 {
            signals.awaitChild(within: .milliseconds(50))
        }
    }

    /// Waits until the stop of the exec, or the child's end if the exec failed. Passes on other
    /// stops. A file system that does not answer may keep the child for ever, so a request for our
    /// end is still served.
    private func waitForProgram(_ tracee: Tracee) throws(SystemError) {
        var timeToEnd: MonotonicTime?
        while true {
            var status: Int32 = 0
            let got = fl_wait(pid, 1, &status)
            guard got != 0 else {
                signals.awaitChild(within: .milliseconds(50))
                guard SignalQueue.isToEnd else { continue }
                let end = timeToEnd ?? .now + .milliseconds(1000)
                timeToEnd = end
                if .now >= end { throw SystemError("waiting for the new process", code: EINTR) }
                continue
            }
            try check(got, "waiting for the new process")
            switch TraceEvent(status: status) {
            case .executed, .exited: return
            case .killed: throw SystemError("waiting for the new process", code: ESRCH)
            case .signal(let number): try tracee.resume(delivering: number)
            case .groupStop: try tracee.listen()
            default: try tracee.resume()
            }
        }
    }
}

extension SamplerOptions {
    /// True if events may report on children. They cannot report the program's own signposts nor
    /// marks, which need our code in each child.
    fileprivate var mayBeToldOfChildren: Bool {
        followsChildren && capture == .signal && marks == nil
            && !until.contains { condition in
                switch condition {
                case .signpost, .mark: true
                case .exit, .notify, .listen, .output, .window, .frame, .idle: false
                }
            }
    }
}

/// A process that is about to execute its program's first instruction, stopped.
struct StartedProcess {
    /// As the user asked for it: for the shortest launches nothing else can be read any more.
    let image: Image
    /// Its only thread so far; observed since its release.
    let main: TracedThread
    let firstInstruction: MonotonicTime
    /// The memory that it inherited; nil: none.
    let area: InheritedArea?
    let ignoresSampleSignal: Bool
    /// nil: the program is not static.
    let sites: PreparedSites?
    /// nil: not available.
    let schedule: SchedulerReader?
    /// Takes the stacks of the process and its children; nil: not available, or not wanted.
    var tree: TreeSamples? = nil
}
