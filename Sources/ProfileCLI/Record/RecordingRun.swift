import Agent
import Analysis
import Exports
import Glibc
import Launching
import Measurer
import ProcessIO
import ProfileModel
import Recorder
import Recording
import Report
import Runtimes
import Sampler
import Symbolicate
import Synchronization

/// A recording from its beginning to the program's end: recorded, symbolicated, and summarised. The
/// common part of `record` and `attach`.
struct RecordingRun {
    private let target: Recorder.Target
    private let options: RecordOptions
    private let signals: SignalQueue
    private let console: Console
    /// nil: the program runs as it would without us.
    private let conditions: RecordingConditions?

    /// Records, prints the summary, waits for the program's end, and returns the exit status.
    ///
    /// - Parameter conditions: the conditions for the program; nil: those in the options.
    static func run(
        _ options: RecordOptions, _ console: Console, in conditions: RecordingConditions? = nil
    ) -> Int32 {
        guard options.engine.isUsable(console) else { return OwnStatus.failure }
        let signals = SignalQueue(launching: options.startsProgram)
        func run(_ target: Recorder.Target, in conditions: RecordingConditions? = nil) -> Int32 {
            RecordingRun(
                target: target, options: options, signals: signals, console: console,
                conditions: conditions
            ).run()
        }
        switch options.target {
        case .launch(let program):
            do throws(MeasuringFailure) {
                // The conditions last until the program has ended.
                let conditions = try RecordingConditions.of(options, or: conditions)
                return run(.launch(program), in: conditions)
            } catch {
                console.complain(error.message)
                return error.status
            }
        case .attach(let pid): return run(.attach(pid))
        case .await(let name):
            switch ProcessWaiter.run(name, options, signals, console) {
            case .found(let pid): return run(.attach(pid))
            case .ended(let status): return status
            }
        }
    }

    private func run() -> Int32 {
        let node = options.nodeRequest(in: conditions)
        let marks = MarkComplaints(
            console, waiting: options.watchesFile(STDERR_FILENO))
        tellNarrowProgram()
        let recorder = recorder(node, marks)
        let result: Recorder.Result
        defer { console.line.wipe() }
        do throws(Recorder.Failure) {
            result = try recorder.record(target, signals: signals)
        } catch {
            return complain(error)
        }
        console.line.wipe()
        // The program no longer depends on us, so stop signals may stop us again.
        signals.leaveStops()
        tellFailure(of: result)
        passOnEnd(of: result)
        let ending = Ending(
            result: result, options: options, isLaunch: target.isLaunch, signals: signals,
            console: console)
        ending.settleOutput()
        for note in conditions?.notes ?? [] { console.complain(note) }
        marks.tellRest(result.sampler.markProblems)
        let hasSummary = finish(result, node)
        ending.explainStall()
        return withExtendedLifetime(conditions) {
            ending.seeToTheEnd(isComplete: result.failure == nil && hasSummary)
        }
    }

    /// Tells the user, before a 32-bit program runs, that its functions will have names but no
    /// stacks.
    private func tellNarrowProgram() {
        guard case .launch(let words) = target, let name = words.first,
            let path = try? ProgramLookup.resolve(name).text,
            let program = NarrowProgram(atPath: path)
        else { return }
        console.complain(
            "\(path) is \(program.words): its functions are named, but its stacks are not unwound")
    }

    private func recorder(_ node: NodeRequest?, _ marks: MarkComplaints) -> Recorder {
        var sampling = SamplerOptions(options)
        conditions?.apply(to: &sampling)
        if let change = node?.change { sampling.child.environment.append(change) }
        sampling.tellMarkProblem = { marks.tell($0) }
        var recorder = Recorder(
            output: options.output, options: sampling, version: Version.current)
        recorder.engine = options.engine
        recorder.last = options.last
        recorder.notes = node?.notes ?? []
        recorder.nodeStart = node?.start
        if let line = options.line(on: console) {
            recorder.tellProgress = { line.show($0) }
        }
        return recorder
    }

    private func complain(_ failure: Recorder.Failure) -> Int32 {
        switch failure {
        case .sampler(let error):
            console.complain(error.description)
            return error.exitStatus
        case .recording(let error):
            console.complain(error.description)
            return OwnStatus.failure
        }
    }

    private func tellFailure(of result: Recorder.Result) {
        guard let failure = result.failure else { return }
        console.complain(failure.description)
        if let path = result.partBefore {
            console.complain("what was recorded before that is in \(path)")
        }
    }

    /// The signal that ended the recording was meant for the program, too.
    private func passOnEnd(of result: Recorder.Result) {
        guard let end = result.sampler.endSignal, target.isLaunch,
            result.sampler.outcome == .running
        else { return }
        Program(pid: result.pid).pass(
            end.number, isFromTerminal: end.isFromTerminal, from: signals)
    }

    /// Symbolicates the recording, so that it can be read anywhere, and prints its summary.
    private func finish(_ result: Recorder.Result, _ node: NodeRequest?) -> Bool {
        guard result.failure == nil else { return false }
        do throws(RecordingError) {
            try RecordingFile.check(options.output, is: result.file)
            var timings = Timings()
            let left = try Symbolication(
                result.held, node: node, cache: options.symbolCache, console,
                on: lookupLine(of: result)
            )
            .complete(
                options.output, &timings,
                show: options.isQuiet
                    ? nil : { RecordingSummary.show($0, of: options.output, console) })
            if left > 0 {
                console.complain(
                    "interrupted: functions of \(Numbers.count(left, "module")) were not looked up; "
                        + "firstlight report looks them up")
            }
            return true
        } catch {
            console.complain(error.description)
            return false
        }
    }

    /// nil: a program that goes on running may write to the same terminal at any time.
    private func lookupLine(of result: Recorder.Result) -> LiveLine? {
        guard !options.isQuiet else { return nil }
        let goesOn = result.sampler.outcome == .running
        let mayStand = options.line(on: console)?.mayStand(beside: result.pid) == true
        return goesOn && !mayStand ? nil : console.line
    }
}

extension Recorder.Target {
    fileprivate var isLaunch: Bool {
        if case .launch = self { return true }
        return false
    }
}

/// The summary that is shown after a recording.
enum RecordingSummary {
    /// A write error is ignored: the reader may have closed the stream, and the recording is
    /// stored.
    ///
    /// - Parameter path: where the recording is, for the commands that are suggested.
    static func show(_ recording: Recording, of path: String, _ console: Console) {
        var options = TextOptions(for: console.terminal(of: .error))
        options.file = path == RecordOptions.defaultOutput ? nil : path
        let text = TextReport.render(Profile(recording), view: .summary, options: options)
        try? console.write(console.words(text), to: .error)
    }
}

/// Reports marks that are impossible. It does so at once, so that the user sees it while the
/// program runs. There is one exception: if our own output goes to a file that is watched for the
/// program's output, our line would count as the program's. Then reports wait until the recording
/// is over.
final class MarkComplaints: Sendable {
    private let console: Console
    private let waits: Bool
    private let waiting = Mutex<[MarkProblem]>([])

    init(_ console: Console, waiting waits: Bool) {
        self.console = console
        self.waits = waits
    }

    func tell(_ problem: MarkProblem) {
        if waits {
            waiting.withLock { $0.append(problem) }
        } else {
            console.complain(problem.description)
        }
    }

    /// After the recording: reports the waiting problems, and then those found at its end.
    func tellRest(_ problems: [MarkProblem]) {
        for problem in waiting.withLock({ $0 }) + problems { console.complain(problem.description) }
    }
}

/// The first part of `firstlight attach --wait`: it waits until there is a process to attach to.
enum ProcessWaiter {
    enum End {
        case found(Int32)
        /// There will be no recording; the exit status.
        case ended(Int32)
    }

    /// Waits, and tells the user.
    static func run(
        _ name: ProgramName, _ options: RecordOptions, _ signals: SignalQueue, _ console: Console
    ) -> End {
        do throws(SamplerError) {
            try Sampler.reserve()
        } catch {
            console.complain(error.description)
            return .ended(error.exitStatus)
        }
        do throws(RecordingError) {
            // Fail now rather than wait for a recording that could not be stored.
            try RecordingFile.checkWritable(options.output)
        } catch {
            console.complain(error.description)
            return .ended(OwnStatus.failure)
        }
        do throws(SamplerError) {
            var wait = ProcessWait(for: name)
            let running = try wait.running()
            if !running.isEmpty { console.complain(notice(running, of: name)) }
            console.complain("waiting for '\(name)' to start (Ctrl-C ends)")
            switch try wait.wait(signals) {
            case .found(let pid): return .found(pid)
            case .signal(let number): return .ended(128 + number)
            }
        } catch {
            console.complain(error.description)
            return .ended(error.exitStatus)
        }
    }

    private static func notice(_ running: [Int32], of name: ProgramName) -> String {
        let first = running.min() ?? 0
        let others = running.count > 1 ? " and \(running.count - 1) more" : ""
        return "'\(name)' is already running (process \(first)\(others)), and is not recorded; to "
            + "record it: firstlight attach \(first)"
    }
}
