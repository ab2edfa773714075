import Analysis
import ProfileModel
import Recording
import Report

/// `firstlight report` of a measurement.
enum MeasurementReading {
    /// Prints the report, and returns the exit status.
    static func run(_ options: ReportOptions, _ console: Console) -> Int32 {
        if let problem = problem(with: options) {
            console.complain(problem.description)
            return problem.exitStatus
        }
        var timings = Timings()
        let status = Reading.write(to: options.output, console) { () throws(Reading.Failure) in
            let measurement = try timings.measure("reading") { () throws(Reading.Failure) in
                try load(options.file)
            }
            let summary = timings.measure("analysing") { MeasurementSummary(of: measurement) }
            return timings.measure("printing") {
                Array(render(measurement, summary, options, console).utf8)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    /// An option without effect is an error, so that nobody takes the whole for a part.
    private static func problem(with options: ReportOptions) -> UsageError? {
        if let option = options.forRecordings.first {
            return UsageError(
                .report, "--\(option) is for recordings, and \(options.file) is a measurement")
        }
        guard options.format == .html else { return nil }
        return UsageError(
            .report,
            "--format html is for recordings, and \(options.file) is a measurement: text, json and "
                + "csv show it")
    }

    private static func load(_ path: String) throws(Reading.Failure) -> Measurement {
        do {
            return try MeasurementReader.load(path: path)
        } catch {
            throw Reading.Failure(error)
        }
    }

    private static func render(
        _ measurement: Measurement, _ summary: MeasurementSummary, _ options: ReportOptions,
        _ console: Console
    ) -> String {
        switch options.format {
        case .json: return MeasurementReport.json(measurement, summary)
        case .csv: return MeasurementReport.csv(measurement)
        case .text, .html:
            let terminal = ReportCommand.terminal(options, console)
            var text = TextOptions()
            text.width = terminal.width
            text.usesColour = terminal.usesColour
            return MeasurementReport.text(measurement, summary, options: text)
        }
    }
}
