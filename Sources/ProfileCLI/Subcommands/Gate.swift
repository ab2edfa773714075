import Measurer
import ProfileModel
import Report
import Sampler
import System

/// `firstlight gate`.
enum GateCommand {
    /// Measures until there is an answer, prints it, and returns the exit status.
    static func run(_ options: GateOptions, _ console: Console) -> Int32 {
        let begun = MonotonicTime.now
        let signals = MeasuringRun.takeSignals()
        let ending: GateEnding
        do throws(MeasuringFailure) {
            ending = try GateRun(options: options, signals: signals, console: console).run()
        } catch {
            console.complain(error.message)
            ending = .failed(error.message, status: error.status)
        }
        let shown = [
            show(ending, options, console),
            write(ending, options, duration: MonotonicTime.now - begun, console),
        ]
        // An answer must not be mistaken for another: a failure to print replaces only status 0.
        return ending.status == 0 ? shown.first { $0 != 0 } ?? 0 : ending.status
    }

    /// - Returns: the exit status of printing.
    private static func show(_ ending: GateEnding, _ options: GateOptions, _ console: Console)
        -> Int32
    {
        guard case .answered(let report, let explanation) = ending, !options.launching.isQuiet
        else { return 0 }
        switch options.launching.format {
        case .json: return printed(report.json(status: ending.status), console)
        case .text:
            let text = TextOptions(for: console.terminal(of: .output))
            let compared = explanation.map { "\n" + ComparisonReport.text($0, options: text) }
            return printed(console.words(report.text(options: text) + (compared ?? "")), console)
        }
    }

    /// Status 1 would mean a regression.
    private static func printed(_ text: String, _ console: Console) -> Int32 {
        let status = Output.print(text, to: console)
        return status == 1 ? OwnStatus.failure : status
    }

    private static func write(
        _ ending: GateEnding, _ options: GateOptions, duration: TimeSpan, _ console: Console
    ) -> Int32 {
        guard let path = options.junit else { return 0 }
        let xml = JUnitReport(ending, name: options.programName, duration: duration).render()
        return Output.write(Array(xml.utf8), to: path, console) == 0 ? 0 : OwnStatus.failure
    }
}
