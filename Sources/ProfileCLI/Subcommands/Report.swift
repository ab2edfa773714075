import Analysis
import Compression
import ProfileModel
import Recording
import Report
import Symbolicate

/// `firstlight report`.
enum ReportCommand {
    /// Prints the report, and returns the exit status.
    static func run(_ options: ReportOptions, _ console: Console) -> Int32 {
        guard options.file == StandardInput.name else { return report(options, console) }
        do throws(StandardInput.Failure) {
            let input = try StandardInput()
            var options = options
            options.file = input.path
            return withExtendedLifetime(input) { report(options, console) }
        } catch {
            console.complain(error.message)
            return 1
        }
    }

    private static func report(_ options: ReportOptions, _ console: Console) -> Int32 {
        if (try? FileKind(of: options.file)) == .measurement {
            return MeasurementReading.run(options, console)
        }
        guard options.format != .csv else {
            let problem = UsageError(
                .report, "--format csv is for measurements, which \(options.file) is not")
            console.complain(problem.description)
            return problem.exitStatus
        }
        var timings = Timings()
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let profile = try Reading.profile(
                of: options.file, names: options.names, process: options.process, &timings)
            return try timings.measure("printing") { () throws(Reading.Failure) in
                try render(profile, options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    private static func render(
        _ profile: Profile, _ options: ReportOptions, _ console: Console
    ) throws(Reading.Failure) -> [UInt8] {
        switch options.format {
        case .text:
            let text = try textOptions(
                options, profile, Output.terminal(for: options.output, console))
            let report = TextReport.render(profile, view: options.view, options: text)
            return console.bytes(report, for: options.output)
        case .markdown:
            let text = try textOptions(
                options, profile, Terminal(isTerminal: false, columns: nil) { _ in nil })
            return Array(
                MarkdownReport(profile, options: text).render(budget: options.budget).utf8)
        case .json:
            return JSONReport.bytes(
                profile, minDuration: options.minDuration ?? Wait.shortest, with: options.parts)
        case .html:
            let sources =
                options.embedsSource
                ? SourceReading(profile, recording: options.file, root: options.sourceRoot)
                    .lines(tell: console) : SourceLines()
            return HTMLReport.render(profile, sources: sources, compress: Gzip.compressed)
        case .csv: throw Reading.Failure("\(options.file): is no measurement")
        }
    }

    private static func textOptions(
        _ options: ReportOptions, _ profile: Profile, _ terminal: Terminal
    ) throws(Reading.Failure) -> TextOptions {
        var result = TextOptions(for: terminal)
        result.selection = try Reading.selection(
            of: profile, phase: options.phase, thread: options.thread,
            interval: options.interval)
        result.weight = options.weight
        result.minPercent = options.minPercent
        result.depth = options.depth
        result.file = options.file == RecordOptions.defaultOutput ? nil : options.file
        result.minDuration = options.minDuration
        if options.view == .modules {
            result.debugPackages = DebianPackages().owners(
                of: profile.modulesWorthMending.map(\.module))
        }
        return result
    }
}
