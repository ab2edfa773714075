import CSystem
import Glibc
import Marks
import Measurer
import ProfileModel
import Recorder
import Recording
import Report
import Sampler
import Symbolicate
import Synchronization

/// `firstlight record` and `firstlight attach`.
enum RecordCommand {
    /// The status for any failure of ours before recording, as in env(1) and timeout(1).
    static let ownFailure: Int32 = 125

    /// - Parameter conditions: the conditions for the program; nil: those in the options.
    static func run(
        _ options: RecordOptions, _ console: Console, in conditions: RecordingConditions? = nil
    ) -> Int32 {
        guard options.engine.isUsable(console) else { return ownFailure }
        let signals = SignalQueue(launching: options.startsProgram)
        switch options.target {
        case .launch(let program):
            do throws(MeasuringFailure) {
                // The conditions last until the program has ended.
                let conditions = try RecordingConditions.of(options, or: conditions)
                return record(.launch(program), options, signals, console, conditions)
            } catch {
                console.complain(error.message)
                return error.status
            }
        case .attach(let pid):
            return record(.attach(pid), options, signals, console)
        case .await(let name):
            switch Awaiting.run(name, options, signals, console) {
            case .found(let pid): return record(.attach(pid), options, signals, console)
            case .ended(let status): return status
            }
        }
    }

    /// Records, prints the summary, waits for the program's end, and returns the exit status.
    private static func record(
        _ target: Recorder.Target, _ options: RecordOptions, _ signals: SignalQueue,
        _ console: Console, _ conditions: RecordingConditions? = nil
    ) -> Int32 {
        var sampling = SamplerOptions(
            frequency: options.frequency, duration: options.duration, capture: options.capture,
            stackBytes: options.stackBytes, followsChildren: options.followsChildren)
        sampling.asksScheduler = options.asksScheduler
        sampling.until = options.end.until
        sampling.extended = options.end.extended
        sampling.watchdog = options.end.watchdog
        conditions?.apply(to: &sampling)
        let node = options.runtime == .node ? NodeRequest(after: sampling.child.environment) : nil
        if let change = node?.change { sampling.child.environment.append(change) }
        if !options.marks.isEmpty { sampling.marks = PreparedPlanner(options.marks) }
        // If a mark is impossible, the user should learn it at once. But in a file that is watched
        // for the program's own output, our line would count as the program's.
        let problems = Mutex<[MarkProblem]>([])
        let isWatched = options.watchesFile(STDERR_FILENO)
        sampling.tellMarkProblem = { problem in
            if isWatched {
                problems.withLock { $0.append(problem) }
            } else {
                console.complain(problem.description)
            }
        }
        var recorder = Recorder(
            output: options.output, options: sampling, version: Version.current)
        recorder.engine = options.engine
        recorder.last = options.last
        recorder.notes = node?.notes ?? []
        recorder.nodeStart = node?.start
        if let line = options.line(on: console) {
            recorder.tellProgress = { line.show($0) }
        }
        let result: Recorder.Result
        defer { console.line.wipe() }
        do throws(Recorder.Failure) {
            result = try recorder.record(target, signals: signals)
        } catch {
            return complain(error, console)
        }
        console.line.wipe()
        // Nothing depends on us any more.
        signals.leaveStops()
        if let failure = result.failure {
            console.complain(failure.description)
            if let path = result.partBefore {
                console.complain("what was recorded before that is in \(path)")
            }
        }
        if let end = result.sampler.endSignal, target.isLaunch,
            result.sampler.outcome == .running
        {
            Program(pid: result.pid).pass(
                end.number, isFromTerminal: end.isFromTerminal, from: signals)
        }
        let ending = Ending(
            result: result, options: options, isLaunch: target.isLaunch, signals: signals,
            console: console)
        ending.settleOutput()
        for note in conditions?.notes ?? [] { console.complain(note) }
        for problem in problems.withLock({ $0 }) + result.sampler.markProblems {
            console.complain(problem.description)
        }
        let hasSummary = finish(options, result, node, console)
        ending.explainStall()
        return withExtendedLifetime(conditions) {
            ending.seeToTheEnd(isComplete: result.failure == nil && hasSummary)
        }
    }

    private static func complain(_ failure: Recorder.Failure, _ console: Console) -> Int32 {
        switch failure {
        case .sampler(let error):
            console.complain(error.description)
            return error.exitStatus
        case .recording(let error):
            console.complain(error.description)
            return ownFailure
        }
    }

    /// Symbolicates the recording, so that it can be read anywhere, and prints its summary.
    private static func finish(
        _ options: RecordOptions, _ result: Recorder.Result, _ node: NodeRequest?,
        _ console: Console
    ) -> Bool {
        guard result.failure == nil else { return false }
        do throws(RecordingError) {
            try RecordingFile.check(options.output, is: result.file)
            var timings = Timings()
            let left = try Symbolication(
                result.held, node: node, cache: options.symbolCache, console,
                isQuiet: options.isQuiet
            )
            .complete(
                options.output, &timings,
                show: options.isQuiet ? nil : { Reading.summarize($0, console) })
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
}

extension RecordOptions {
    var symbolCache: SymbolCache? { usesSymbolCache ? .ofUser : nil }

    /// True if the program's output is watched in a file that is also this stream of ours.
    fileprivate func watchesFile(_ stream: Int32) -> Bool {
        watchesOutput && Int(fl_stream_kind(stream)) == fl_stream_file
    }

    private var watchesOutput: Bool {
        end.until.contains { if case .output = $0 { true } else { false } }
    }

    /// If the program writes through our relay, we cannot see where its output goes.
    fileprivate func line(on console: Console) -> RecordingLine? {
        guard !isQuiet, !watchesOutput || forcesProgress, !watchesFile(STDERR_FILENO) else {
            return nil
        }
        return RecordingLine(console.line, isForced: forcesProgress)
    }
}

extension RecordOptions {
    fileprivate var startsProgram: Bool {
        if case .launch = target { return true }
        return false
    }
}

extension Recorder.Target {
    fileprivate var isLaunch: Bool {
        if case .launch = self { return true }
        return false
    }
}
