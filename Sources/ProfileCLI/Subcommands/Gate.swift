import Analysis
import Glibc
import Measurer
import ProfileModel
import Recording
import Report
import Sampler
import System

/// `firstlight gate`.
enum GateCommand {
    static let ownFailure: Int32 = RecordCommand.ownFailure

    /// Measures until there is an answer, prints it, and returns the exit status.
    static func run(_ options: GateOptions, _ console: Console) -> Int32 {
        let begun = MonotonicTime.now
        let signals = MeasuringRun.takeSignals()
        let ending: Ending
        do throws(MeasuringFailure) {
            ending = try Gate(options: options, signals: signals, console: console).run()
        } catch {
            console.complain(error.message)
            ending = .failed(error.message, status: error.status)
        }
        let shown = [
            show(ending, options, console),
            write(ending, options, duration: MonotonicTime.now - begun, console),
        ]
        // An answer must not be mistaken for another one.
        return ending.status == 0 ? shown.first { $0 != 0 } ?? 0 : ending.status
    }

    enum Ending {
        case answered(GateReport, explanation: ProfileComparison?)
        /// There is no answer; the reason was reported.
        case failed(String, status: Int32)

        var status: Int32 {
            switch self {
            case .answered(let report, _): report.result.outcome.status
            // For `measure` this means "gave up"; for a gate it would mean a regression.
            case .failed(_, let status):
                status == MeasureCommand.gaveUp ? GateCommand.ownFailure : status
            }
        }
    }

    /// - Returns: the exit status of printing.
    private static func show(_ ending: Ending, _ options: GateOptions, _ console: Console) -> Int32
    {
        guard case .answered(let report, let explanation) = ending, !options.launching.isQuiet
        else { return 0 }
        switch options.launching.format {
        case .json: return printed(report.json(status: ending.status), console)
        case .text:
            let terminal = console.terminal(of: .output)
            var text = TextOptions()
            text.width = terminal.width
            text.usesColour = terminal.usesColour
            let compared = explanation.map { "\n" + ComparisonReport.text($0, options: text) }
            return printed(console.words(report.text(options: text) + (compared ?? "")), console)
        }
    }

    /// Status 1 would mean a regression.
    private static func printed(_ text: String, _ console: Console) -> Int32 {
        let status = Output.print(text, to: console)
        return status == 1 ? ownFailure : status
    }

    private static func write(
        _ ending: Ending, _ options: GateOptions, duration: TimeSpan, _ console: Console
    ) -> Int32 {
        guard let path = options.junit else { return 0 }
        let xml = JUnitReport(ending, name: options.programName, duration: duration).render()
        return Output.write(Array(xml.utf8), to: path, console) == 0 ? 0 : ownFailure
    }
}

/// One gate: the launches, and the decision.
struct Gate {
    let options: GateOptions
    let signals: SignalQueue
    let console: Console

    private var rule: GateRule {
        GateRule(
            allowed: ComparisonRule(allowedShare: options.maxRegression),
            mostPairs: options.maxLaunches)
    }

    func run() throws(MeasuringFailure) -> GateCommand.Ending {
        if let output = options.output {
            try MeasureCommand.attempt { () throws(RecordingError) in
                try RecordingFile.checkWritable(output, for: .measurement)
            }
        }
        switch try GateBaseline(options) {
        case .command(let words): return try takeTurns(with: words)
        case .stored(let stored, let reason, let file):
            return try ask(stored, because: reason, of: file)
        }
    }

    private func takeTurns(with words: [String]) throws(MeasuringFailure) -> GateCommand.Ending {
        let rule = rule
        var launching = options.launching
        launching.against = words
        launching.launches = rule.looks.first ?? options.maxLaunches
        return try measure(launching) { launches in
            guard case .measure(let pairs) = rule.answer(to: launches) else { return nil }
            return pairs
        } answer: { measurement in
            GateReport(GateResult(ofTurns: measurement, rule: rule), measurement)
        }
    }

    /// As many launches as the stored measurement has: they tell as much.
    private func ask(
        _ stored: Measurement, because reason: StoredBaseline.Reason, of file: String
    ) throws(MeasuringFailure) -> GateCommand.Ending {
        var launching = options.launching
        let counted = stored.launches.count { $0.arm == 0 && $0.discarded == nil }
        launching.launches = min(options.maxLaunches, max(10, counted))
        return try measure(launching, extend: { _ in nil }) { measurement in
            GateReport(
                GateResult(of: measurement, against: stored, because: reason, rule: rule),
                measurement, baseline: file)
        }
    }

    private func measure(
        _ launching: MeasureOptions, extend: @escaping ([MeasuredLaunch]) -> Int?,
        answer: (Measurement) -> GateReport
    ) throws(MeasuringFailure) -> GateCommand.Ending {
        var run = try MeasuringRun(launching, signals, console, showsPart: false)
        let result = try run.launch(keptIn: options.output, extend: extend)
        run.tellEnd(of: result)
        guard result.end == .complete else {
            return .failed(run.ending(of: result) ?? "", status: run.status(of: result))
        }
        let report = answer(run.measurement)
        return .answered(report, explanation: explanation(of: report, run.launcher))
    }

    /// nil: not requested, or not possible. The answer stands without it.
    private func explanation(
        of report: GateReport, _ launcher: ProgramLauncher
    ) -> ProfileComparison? {
        guard options.explains, report.result.outcome == .regression else { return nil }
        do {
            return try GateExplanation(options: options.launching, launcher: launcher)
                .comparison { console.complain($0) }
        } catch {
            console.complain(error.message)
            return nil
        }
    }
}

extension GateOutcome {
    fileprivate var status: Int32 {
        switch self {
        case .passed: 0
        case .regression: 1
        case .inconclusive: 3
        }
    }
}

extension JUnitReport {
    fileprivate init(_ ending: GateCommand.Ending, name: String, duration: TimeSpan) {
        let (result, details): (Result, [String]) =
            switch ending {
            case .failed(let reason, _): (.broken(reason), [])
            case .answered(let report, _):
                switch report.result.outcome {
                case .passed: (.passed, [report.verdict] + report.grounds)
                case .regression: (.failed(report.verdict), report.grounds)
                case .inconclusive: (.skipped(report.verdict), report.grounds)
                }
            }
        self.init(
            suite: "firstlight gate", name: name, result: result, duration: duration,
            details: details)
    }
}
