import Analysis
import Measurer
import ProcessIO
import ProfileModel
import Recording
import Report
import Sampler

/// `firstlight measure`.
enum MeasureCommand {
    /// Measures, prints the summary, and returns the exit status.
    static func run(_ options: MeasureOptions, _ console: Console) -> Int32 {
        let signals = MeasuringRun.takeSignals()
        do throws(MeasuringFailure) {
            return try measure(options, signals, console)
        } catch {
            console.complain(error.message)
            return error.status
        }
    }

    private static func measure(
        _ options: MeasureOptions, _ signals: SignalQueue, _ console: Console
    ) throws(MeasuringFailure) -> Int32 {
        try MeasuringFailure.attempt { () throws(RecordingError) in
            try RecordingFile.checkWritable(options.output, for: .measurement)
        }
        var run = try MeasuringRun(options, signals, console)
        let result = try run.launch(keptIn: options.output)
        let shown = show(run.measurement, options, console)
        run.tellEnd(of: result)
        if result.end == .complete, options.thenRecords {
            try TypicalLaunch(
                options: options, measurement: run.measurement, launcher: run.launcher
            ).record(console)
        }
        let status = run.status(of: result)
        return status == 0 ? shown : status
    }

    /// Prints the summary, whatever the number of launches.
    ///
    /// - Returns: the exit status of printing.
    private static func show(
        _ measurement: Measurement, _ options: MeasureOptions, _ console: Console
    ) -> Int32 {
        guard !options.isQuiet, !measurement.launches.isEmpty else { return 0 }
        let summary = MeasurementSummary(of: measurement)
        switch options.format {
        case .json:
            return Output.print(MeasurementReport.json(measurement, summary), to: console)
        case .text:
            let text = TextOptions(for: console.terminal(of: .output))
            return Output.print(
                console.words(MeasurementReport.text(measurement, summary, options: text)),
                to: console)
        }
    }
}
