package import Analysis
package import Report
package import Shipping

/// What `export` is asked for.
package struct ExportArguments: Sendable {
    /// Several, and folders, only where figures are exported.
    package var paths: [String]
    package var target: ExportTarget
    /// nil: standard output.
    package var output: String?
    /// The folder of node_exporter's collector, where figures go instead.
    package var textFolder: String?
    /// Where figures are sent instead.
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
        // An option without effect is an error, so that nobody takes the whole for a part.
        if target == .profile(.chrome), arguments.isGiven(.weight) {
            throw UsageError(.export, "--weight does not go with --format chrome: it has no stacks")
        }
        textFolder = arguments.text(.textFolder)
        server = try arguments.text(.otlp).map { text throws(UsageError) in try Self.server(text) }
        try check(arguments)
    }

    private static let metricsNames = MetricsFormat.allCases.map(\.rawValue).joined(separator: ", ")

    private static func server(_ text: String) throws(UsageError) -> WebAddress {
        do throws(WebAddress.Problem) {
            let address = try WebAddress(text, standardPort: 4318)
            return address.path == "/"
                ? try WebAddress("http://\(address.authority)/v1/metrics", standardPort: 4318)
                : address
        } catch {
            // It may hold a secret: it is not repeated.
            throw UsageError(.export, "--otlp: not an address to send to: \(error.description)")
        }
    }

    private func check(_ arguments: ParsedArguments) throws(UsageError) {
        if case .metrics(let format) = target {
            let shaping: Set<OptionName> = [
                .phase, .thread, .process, .interval, .weight, .demangle,
            ]
            if let name = arguments.given(of: shaping).first {
                throw UsageError(
                    .export,
                    "--\(name) does not go with --format \(format.rawValue): that has no stacks")
            }
            if textFolder != nil, format != .prometheus {
                throw UsageError(.export, "--textfile needs --format prometheus")
            }
            if server != nil, format != .otlp {
                throw UsageError(.export, "--otlp needs --format otlp, or none")
            }
            let places = [textFolder != nil, server != nil, output != nil].count { $0 }
            guard places <= 1 else {
                throw UsageError(
                    .export, "--textfile, --otlp and --output are different places: give one")
            }
            return
        }
        if textFolder != nil { throw UsageError(.export, "--textfile needs --format prometheus") }
        if server != nil { throw UsageError(.export, "--otlp needs --format otlp, or none") }
        guard paths.count == 1 else {
            throw UsageError(
                .export,
                "too many files: only the formats of figures (\(Self.metricsNames)) take more")
        }
        let given = arguments.given(of: [.phase, .thread, .process, .interval, .weight])
        if target == .tables, let name = given.first {
            throw UsageError(
                .export, "--\(name) does not go with --format sqlite: that has everything")
        }
    }
}
