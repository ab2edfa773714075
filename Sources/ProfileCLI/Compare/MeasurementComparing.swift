import Analysis
import ProfileModel
import Recording
import Report

/// `firstlight compare` of two measurements.
enum MeasurementComparing {
    /// Prints the comparison, and returns the exit status.
    static func run(_ options: CompareOptions, _ console: Console) -> Int32 {
        if let problem = problem(with: options) {
            console.complain(problem.description)
            return problem.exitStatus
        }
        var timings = Timings()
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let report = try report(options, &timings)
            return timings.measure("printing") { render(report, options, console) }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    /// An option without effect is an error: otherwise a reader could mistake the whole for a part.
    private static func problem(with options: CompareOptions) -> UsageError? {
        let file = options.before.first ?? ""
        if let option = options.forRecordings.first {
            return UsageError(
                .compare, "--\(option) is for recordings, and \(file) is a measurement")
        }
        guard [.text, .json].contains(options.format) else {
            return UsageError(
                .compare,
                "--format \(options.format.rawValue) is for recordings, and \(file) is a "
                    + "measurement")
        }
        return nil
    }

    private static func report(
        _ options: CompareOptions, _ timings: inout Timings
    ) throws(Reading.Failure) -> MeasurementComparisonReport {
        // Several files per side need --with, which is only for recordings. So here each side has
        // one.
        let (before, after) = (options.before.first ?? "", options.after.first ?? "")
        let measurements = try timings.measure("reading") { () throws(Reading.Failure) in
            (try MeasurementReading.load(before), try MeasurementReading.load(after))
        }
        do {
            let comparison = try timings.measure("comparing") {
                () throws(MeasurementComparison.Refusal) in
                try MeasurementComparison(
                    before: measurements.0, after: measurements.1, anyway: options.anyway)
            }
            return MeasurementComparisonReport(comparison, before: before, after: after)
        } catch {
            throw Reading.Failure(
                "compare: \(before) and \(after): " + MeasurementComparisonReport.text(error))
        }
    }

    private static func render(
        _ report: MeasurementComparisonReport, _ options: CompareOptions, _ console: Console
    ) -> [UInt8] {
        guard options.format == .text else { return Array(report.json().utf8) }
        let text = TextOptions(for: Output.terminal(for: options.output, console))
        return console.bytes(report.text(options: text), for: options.output)
    }
}
