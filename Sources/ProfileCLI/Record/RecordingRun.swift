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
