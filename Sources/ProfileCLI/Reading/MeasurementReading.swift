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
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let measurement = try timings.measure("reading") { () throws(Reading.Failure) in
                try load(options.file)
            }
            let summary = timings.measure("analysing") { MeasurementSummary(of: measurement) }
            return timings.measure("printing") {
                render(measurement, summary, options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    /// An option without effect is an error: otherwise a reader could mistake the whole for a part.
    private static func problem(with options: ReportOptions) -> UsageError? {
        let option =
            options.forRecordings.first ?? (options.format == .markdown ? "format markdown" : nil)
        return option.map {
            UsageError(.report, "--\($0) is for recordings, and \(options.file) is a measurement")
        }
    }

    static func load(_ path: String) throws(Reading.Failure) -> Measurement {
        do {
            return try MeasurementReader.load(path: path)
        } catch {
            throw Reading.Failure(error)
        }
    }

    private static func render(
        _ measurement: Measurement, _ summary: MeasurementSummary, _ options: ReportOptions,
        _ console: Console
    ) -> [UInt8] {
        switch options.format {
        case .html: return MeasurementPage.html(of: measurement, summary: summary)
        case .json: return Array(MeasurementReport.json(measurement, summary).utf8)
        case .csv: return Array(MeasurementReport.csv(measurement).utf8)
        case .text, .markdown:
            let text = TextOptions(for: Output.terminal(for: options.output, console))
            return console.bytes(
                MeasurementReport.text(measurement, summary, options: text), for: options.output)
        }
    }
}
