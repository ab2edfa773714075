package import Analysis
import Compression
package import Exports
import ProcessIO
package import ProfileModel
import Recording
package import Report
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

package enum ReportFormat: String, CaseIterable, Sendable {
    case text, markdown, json, html, csv
}

/// The options of `report`.
package struct ReportOptions: Sendable {
    package var file: String
    package var format: ReportFormat
    package var view: View
    package var phase: String?
    package var thread: String?
    package var process: String?
    package var interval: String?
    package var weight: Weight?
    package var minPercent: Double?
    package var depth: Int?
    /// nil: each view's own limit.
    package var minDuration: TimeSpan?
    /// The optional parts of JSON.
    package var parts: Set<JSONPart>
    package var showsTimings: Bool
    package var names: NameStyle
    /// nil: standard output.
    package var output: String?
    package var embedsSource: Bool
    /// The maximum size of Markdown, in bytes.
    package var budget: Int
    /// The folder below which source is read.
    package var sourceRoot: String
    /// Long names of given options that have no meaning for a measurement.
    package var forRecordings: [String]

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        file = arguments.operands.first ?? RecordOptions.defaultOutput
        output = arguments.text(.output)
        embedsSource = arguments.isGiven(.embedSource)
        sourceRoot = arguments.text(.sourceRoot) ?? "."
        format = arguments.text(.format).flatMap(ReportFormat.init) ?? .text
        budget = arguments.integer(.budget) ?? MarkdownReport.usualBudget
        view = try Self.view(arguments)
        phase = arguments.text(.phase)
        thread = arguments.text(.thread)
        process = arguments.text(.process)
        interval = arguments.text(.interval)
        weight = arguments.text(.weight).flatMap(Weight.init)
        minPercent = arguments.percent(.minPercent)
        depth = arguments.integer(.depth)
        minDuration = arguments.duration(.minDuration)
        parts = try Self.parts(arguments)
        showsTimings = arguments.isGiven(.timings)
        names = NameStyle(arguments)
        forRecordings = arguments.given(
            of: Self.shaping.union([.minDuration, .parts, .demangle, .embedSource, .sourceRoot]))
        try Self.check(arguments, format)
    }

    /// Two views have a short name of their own.
    private static func view(_ arguments: ParsedArguments) throws(UsageError) -> View {
        let given = arguments.given(of: [.view, .full, .notes])
        guard given.count <= 1 else {
            throw UsageError(
                .report, "--\(given[0]) and --\(given[1]) are two views: choose one of them")
        }
        if arguments.isGiven(.full) { return .full }
        if arguments.isGiven(.notes) { return .notes }
        return arguments.text(.view).flatMap(View.init) ?? .summary
    }

    private static func parts(_ arguments: ParsedArguments) throws(UsageError) -> Set<JSONPart> {
        var parts: Set<JSONPart> = []
        for word in (arguments.text(.parts) ?? "").split(separator: ",") {
            guard let part = JSONPart(rawValue: String(word)) else {
                let known = JSONPart.allCases.map(\.rawValue).joined(separator: " or ")
                throw UsageError(.report, "unknown part '\(word)': it must be \(known)")
            }
            parts.insert(part)
        }
        if arguments.isGiven(.parts), parts.isEmpty {
            throw UsageError(.report, "--with needs events, timeline or both")
        }
        return parts
    }

    /// Which part of a profile is shown, and how.
    private static let shaping: Set<OptionName> = [
        .view, .full, .notes, .phase, .thread, .interval, .weight, .minPercent, .depth,
    ]
    /// Markdown shows a part of a launch, but always in the same way.
    private static let viewing: Set<OptionName> = [
        .view, .full, .notes, .minPercent, .depth, .minDuration,
    ]

    /// JSON, HTML and CSV are complete. An option without effect is an error: otherwise a reader
    /// could mistake the whole for a part.
    private static func check(
        _ arguments: ParsedArguments, _ format: ReportFormat
    ) throws(UsageError) {
        if format != .html, arguments.isGiven(.embedSource) {
            throw UsageError(.report, "--embed-source goes with --format html only")
        }
        if format != .markdown, arguments.isGiven(.budget) {
            throw UsageError(.report, "--budget goes with --format markdown only")
        }
        if format != .json, arguments.isGiven(.parts) {
            throw UsageError(.report, "--with goes with --format json only")
        }
        if arguments.isGiven(.sourceRoot), !arguments.isGiven(.embedSource) {
            throw UsageError(.report, "--source-root goes with --embed-source only")
        }
        guard format != .text else { return }
        if format == .markdown {
            guard let option = arguments.given(of: viewing).first else { return }
            throw UsageError(.report, "--\(option) does not go with --format markdown")
        }
        let idle = format == .json ? shaping : shaping.union([.minDuration])
        if let option = arguments.given(of: idle).first {
            throw UsageError(
                .report,
                "--\(option) does not go with --format \(format.rawValue), which is complete")
        }
    }
}

/// The options of `fold`.
package struct FoldOptions: Sendable {
    package var file: String
    package var phase: String?
    package var thread: String?
    package var process: String?
    package var interval: String?
    package var weight: Weight
    package var showsPhase: Bool
    package var showsThread: Bool
    package var names: NameStyle

    package init(_ arguments: ParsedArguments) {
        file = arguments.operands.first ?? RecordOptions.defaultOutput
        phase = arguments.text(.phase)
        thread = arguments.text(.thread)
        process = arguments.text(.process)
        interval = arguments.text(.interval)
        weight = arguments.text(.weight).flatMap(Weight.init) ?? .cpu
        showsPhase = !arguments.isGiven(.noPhase)
        showsThread = !arguments.isGiven(.noThread)
        names = NameStyle(arguments)
    }
}

extension NameStyle {
    init(_ arguments: ParsedArguments) {
        self = arguments.text(.demangle).flatMap(NameStyle.init) ?? .full
    }
}
