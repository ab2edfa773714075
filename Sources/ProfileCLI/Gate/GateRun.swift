import Analysis
import Conditions
import Glibc
import Measurer
import ProcessIO
import ProfileModel
import Recording
import Report
import Sampler

/// One gate: the launches, and the decision.
struct GateRun {
    let options: GateOptions
    let signals: SignalQueue
    let console: Console

    private var rule: GateRule {
        GateRule(
            allowed: ComparisonRule(allowedShare: options.maxRegression),
            mostPairs: options.maxLaunches)
    }

    func run() throws(MeasuringFailure) -> GateEnding {
        if let output = options.output {
            try MeasuringFailure.attempt { () throws(RecordingError) in
                try RecordingFile.checkWritable(output, for: .measurement)
            }
        }
        switch try GateBaseline(options) {
        case .command(let words): return try takeTurns(with: words)
        case .stored(let stored, let reason, let file):
            return try ask(stored, because: reason, of: file)
        }
    }

    private func takeTurns(with words: [String]) throws(MeasuringFailure) -> GateEnding {
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

    private func ask(
        _ stored: Measurement, because reason: StoredBaseline.Reason, of file: String
    ) throws(MeasuringFailure) -> GateEnding {
        var launching = options.launching
        launching.launches = GateRule.launches(against: stored, most: options.maxLaunches)
        return try measure(launching, extend: { _ in nil }) { measurement in
            GateReport(
                GateResult(of: measurement, against: stored, because: reason, rule: rule),
                measurement, baseline: file)
        }
    }

    private func measure(
        _ launching: MeasureOptions, extend: @escaping ([MeasuredLaunch]) -> Int?,
        answer: (Measurement) -> GateReport
    ) throws(MeasuringFailure) -> GateEnding {
        var run = try MeasuringRun(launching, signals, console, showsPart: false)
        let result = try run.launch(keptIn: options.output, extend: extend)
        run.tellEnd(of: result)
        guard result.end == .complete else {
            return .failed(run.ending(of: result) ?? "", status: run.status(of: result))
        }
        let report = answer(run.measurement)
        return .answered(report, explanation: explanation(of: report, run.launcher))
    }

    /// nil: not requested, or not possible. The verdict does not depend on it.
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

/// The cause of a regression: one launch of each program with stacks, compared (`--explain`).
struct GateExplanation {
    let options: MeasureOptions
    let launcher: ProgramLauncher

    /// - Parameter tell: receives the reason if there is no comparison.
    /// - Returns: nil: there is none.
    func comparison(tell: (String) -> Void) throws(MeasuringFailure) -> ProfileComparison? {
        let folder: TemporaryFolder
        do {
            folder = try TemporaryFolder(
                in: Self.parent, prefix: "firstlight-gate", condition: "--explain")
        } catch {
            tell("\(error)")
            return nil
        }
        defer { withExtendedLifetime(folder) {} }
        let launch = StackedLaunch(options: options, launcher: launcher)
        // The first program is the measured one, the second its baseline.
        guard
            let before = try launch.record(
                arm: 1, to: folder.path + "/before.firstlight", tell: tell),
            let after = try launch.record(
                arm: 0, to: folder.path + "/after.firstlight", tell: tell)
        else { return nil }
        return ProfileComparison(before: before, after: after)
    }

    private static var parent: String {
        getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }
}
