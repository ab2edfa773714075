import Agent
import CSystem
import Glibc
import Launching
import ProcessIO
import ProfileModel
import Readiness
import System

extension HeldProcess {
    /// Traces the child and releases it to execute the program, up to the program's first
    /// instruction.
    ///
    /// - Parameter options: say whether the processes that it forks are traced, too, and whether
    ///   the scheduler is asked.
    consuming func execute(_ options: SamplerOptions) throws(SamplerError) -> StartedProcess {
        let tracee = Tracee(tid: pid)
        let main: TracedThread
        let schedule: SchedulerReader?
        let tree: TreeSamples?
        let executable: String?
        let hasOtherClocks: Bool
        let hasExecuted: Bool
        do throws(SystemError) {
            // The kernel may switch things on for this. The launch has not begun, so it is not delayed.
            schedule =
                options.asksScheduler
                ? SchedulerReader(
                    pid: pid, threads: [pid], followsChildren: options.followsChildren)
                : nil
            // With this, no process need be stopped for samples of children.
            let news = options.mayBeToldOfChildren ? try? ProcessTreeEvents(of: pid) : nil
            tree =
                options.followsChildren && options.capture == .untraced
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
            // Ask now: later the program would be stopped meanwhile.
            executable = realpath(path.cString, nil).map { found in
                defer { free(found) }
                return String(cString: found)
            }
            hasOtherClocks = ProcessFiles(pid: pid).hasOtherClocks
            let samples = tree == nil ? samples(options) : nil
            // The program's launch begins here: the child exists, and nothing holds it.
            main = TracedThread(
                KernelThread(process: pid, tid: pid), index: ThreadIndex(0), start: .now,
                isNew: false)
            main.samples = samples
            fl_release_held(release)
            hasExecuted = try waitForProgram(tracee)
        } catch {
            end()
            throw .systemCall(error)
        }
        let reached = MonotonicTime.now
        if !hasExecuted {
            var code: Int32 = 0
            let hasFailed = fl_read_int(failure, &code) == 1
            close(failure)
            if hasFailed { throw ProgramLookup.explain(path: path.text, code: code) }
        }
        return StartedProcess(
            image: Image(
                path: executable ?? path.text, arguments: arguments.map(\.text), time: reached),
            main: main, firstInstruction: reached, area: area,
            ignoresSampleSignal: ignoresSampleSignal, hasOtherClocks: hasOtherClocks, sites: sites,
            schedule: schedule, tree: tree, unread: hasExecuted ? failure : -1)
    }

    /// The first thread's stacks from the program's first instruction on. A recorder that has no core
    /// at first finds them when it gets one.
    ///
    /// - Returns: nil: not to be had; ``EventStacks`` finds out why.
    private borrowing func samples(_ options: SamplerOptions) -> ThreadSamples? {
        guard options.capture == .untraced else { return nil }
        return try? ThreadSamples(
            tid: pid, cpu: 0, interval: options.sampleInterval,
            stackBytes: ThreadSamples.mostStackBytes, fromExec: true)
    }
}

extension SamplerOptions {
    /// True if events may report on children. They cannot report the program's own signposts nor
    /// marks, which need our code in each child.
    fileprivate var mayBeToldOfChildren: Bool {
        followsChildren && capture == .untraced && marks == nil
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
    let area: InheritedAgent?
    let ignoresSampleSignal: Bool
    /// Whether its times are not ours.
    let hasOtherClocks: Bool
    /// nil: the program is not static.
    let sites: PreparedSites?
    /// nil: not available.
    let schedule: SchedulerReader?
    /// Takes the stacks of the process and its children; nil: not available, or not wanted.
    var tree: TreeSamples? = nil
    /// The read end of the pipe that reports a failed exec; -1: closed already. It is closed after the
    /// program has been resumed.
    var unread: Int32 = -1
}
