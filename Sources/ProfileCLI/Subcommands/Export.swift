package import Analysis
import Compression
package import Exports
import ProcessIO
package import Report
package import Shipping

/// `firstlight export`.
enum ExportCommand {
    /// Writes the profile in another format, and returns the exit status.
    static func run(_ arguments: ExportArguments, _ console: Console) -> Int32 {
        if case .metrics(let format) = arguments.target {
            return MetricsExport(arguments, format).run(console)
        }
        return Output.write(to: arguments.output, console) { () throws(Reading.Failure) in
            let file = arguments.paths[0]
            guard case .profile(let format) = arguments.target else {
                return try Reading.tables(of: file)
            }
            let profile = try Reading.profile(
                of: file, names: arguments.names, process: arguments.process)
            var options = ExportOptions()
            options.selection = try Reading.selection(
                of: profile, phase: arguments.phase, thread: arguments.thread,
                interval: arguments.interval)
            options.weight = arguments.weight
            return Export.render(
                profile, as: format, options, compress: Gzip.compressed)
        }
    }
}

/// The options of `export`.
package struct ExportArguments: Sendable {
    /// Several paths, and folders, are valid only for figures.
    package var paths: [String]
    package var target: ExportTarget
    /// nil: standard output.
    package var output: String?
    /// The folder of node_exporter's collector, as the target for figures.
    package var textFolder: String?
    /// The server as the target for figures.
    package var server: WebAddress?
    package var phase: String?
    package var thread: String?
    package var process: String?
    package var interval: String?
    package var weight: Weight
    package var names: NameStyle

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        paths = arguments.operands.isEmpty ? [RecordOptions.defaultOutput] : arguments.operands
        let implied = arguments.isGiven(.otlp) ? MetricsFormat.otlp.rawValue : nil
        let format = arguments.text(.exportFormat) ?? implied
        guard let target = format.flatMap(ExportTarget.init) else {
            let names = ExportTarget.names.joined(separator: ", ")
            throw UsageError(.export, "--format is missing: one of \(names)")
        }
        self.target = target
        output = arguments.text(.output)
        phase = arguments.text(.phase)
        thread = arguments.text(.thread)
        process = arguments.text(.process)
        interval = arguments.text(.interval)
        weight = arguments.text(.weight).flatMap(Weight.init) ?? .cpu
        names = NameStyle(arguments)
        textFolder = arguments.text(.textFolder)
        server = try arguments.text(.otlp).map { text throws(UsageError) in
            try Self.server(text, of: .export)
        }
        try check(arguments)
    }

    static func server(
        _ text: String, of subcommand: Subcommand
    ) throws(UsageError) -> WebAddress {
        do throws(WebAddress.Problem) {
            let address = try WebAddress(text, standardPort: 4318)
            return address.path == "/"
                ? try WebAddress("http://\(address.authority)/v1/metrics", standardPort: 4318)
                : address
        } catch {
            // The address may contain a secret, so it is not repeated.
            throw UsageError(subcommand, "--otlp: not an address to send to: \(error.description)")
        }
    }

    /// An option without effect is an error: otherwise a reader could mistake the whole for a part.
    private func check(_ arguments: ParsedArguments) throws(UsageError) {
        var metrics: MetricsFormat?
        if case .metrics(let format) = target { metrics = format }
        if textFolder != nil, metrics != .prometheus {
            throw UsageError(.export, "--textfile needs --format prometheus")
        }
        if server != nil, metrics != .otlp {
            throw UsageError(.export, "--otlp needs --format otlp, or none")
        }
        guard let metrics else { return try checkOfProfile(arguments) }
        let shaping: Set<OptionName> = [.phase, .thread, .process, .interval, .weight, .demangle]
        if let name = arguments.given(of: shaping).first {
            throw UsageError(
                .export,
                "--\(name) does not go with --format \(metrics.rawValue): that has no stacks")
        }
        guard [textFolder != nil, server != nil, output != nil].count(where: { $0 }) <= 1 else {
            throw UsageError(
                .export, "--textfile, --otlp and --output are different places: give one")
        }
    }

    private func checkOfProfile(_ arguments: ParsedArguments) throws(UsageError) {
        guard paths.count == 1 else {
            let names = MetricsFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(
                .export, "too many files: only the formats of figures (\(names)) take more")
        }
        if target == .profile(.chrome), arguments.isGiven(.weight) {
            throw UsageError(.export, "--weight does not go with --format chrome: it has no stacks")
        }
        let given = arguments.given(of: [.phase, .thread, .process, .interval, .weight])
        if target == .tables, let name = given.first {
            throw UsageError(
                .export, "--\(name) does not go with --format sqlite: that has everything")
        }
    }
}

/// The format of an export.
package enum ExportTarget: Hashable, Sendable {
    case profile(ExportFormat)
    /// Plain tables for SQL.
    case tables
    /// Figures of one or many recordings and measurements.
    case metrics(MetricsFormat)

    private static let tablesName = "sqlite"

    package static let names =
        ExportFormat.allCases.map(\.rawValue) + [tablesName]
        + MetricsFormat.allCases.map(\.rawValue)

    package init?(_ name: String) {
        if name == Self.tablesName {
            self = .tables
        } else if let format = ExportFormat(rawValue: name) {
            self = .profile(format)
        } else if let format = MetricsFormat(rawValue: name) {
            self = .metrics(format)
        } else {
            return nil
        }
    }
}
