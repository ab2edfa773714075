package import Analysis
package import ClickHouse
import Compression
package import Exports
import ProcessIO
import Recording
import Report

/// `firstlight compare`.
enum CompareCommand {
    /// Prints the comparison, and returns the exit status.
    static func run(_ request: CompareRequest, _ console: Console) -> Int32 {
        switch request {
        case .files(let options): run(options, console)
        case .versions(let options): VersionComparing.run(options, console)
        }
    }

    private static func run(_ options: CompareOptions, _ console: Console) -> Int32 {
        let files = options.before + options.after
        let measurements = files.filter { (try? FileKind(of: $0)) == .measurement }
        if measurements.count == files.count { return MeasurementComparing.run(options, console) }
        if let problem = problem(with: options, files, measurements) {
            console.complain(problem.description)
            return problem.exitStatus
        }
        var timings = Timings()
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let sides = try Compared(
                before: profiles(of: options.before, options, &timings),
                after: profiles(of: options.after, options, &timings))
            let comparison = timings.measure("comparing") {
                ProfileComparison(first: sides.map(\.first), others: sides.map(\.others))
            }
            return try timings.measure("printing") { () throws(Reading.Failure) in
                try render(comparison, options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    private static func problem(
        with options: CompareOptions, _ files: [String], _ measurements: [String]
    ) -> UsageError? {
        if let measurement = measurements.first,
            let other = files.first(where: { !measurements.contains($0) })
        {
            return UsageError(
                .compare,
                "\(measurement) is a measurement and \(other) is not; only two of one kind can be "
                    + "compared")
        }
        guard options.anyway else { return nil }
        return UsageError(.compare, "--anyway is for measurements, which \(files[0]) is not")
    }

    private typealias Launches = (first: Profile, others: [Profile])

    /// - Parameter files: at least one.
    private static func profiles(
        of files: [String], _ options: CompareOptions, _ timings: inout Timings
    ) throws(Reading.Failure) -> Launches {
        let first = try Reading.profile(of: files[0], names: options.names, &timings)
        var others: [Profile] = []
        for file in files.dropFirst() {
            others.append(try Reading.profile(of: file, names: options.names, &timings))
        }
        return (first, others)
    }

    private static func render(
        _ comparison: ProfileComparison, _ options: CompareOptions, _ console: Console
    ) throws(Reading.Failure) -> [UInt8] {
        let phases = try phases(of: comparison, options)
        switch options.format {
        case .text:
            var text = TextOptions(for: Output.terminal(for: options.output, console))
            text.depth = options.depth
            return console.bytes(
                ComparisonReport.text(comparison, phases: phases, options: text),
                for: options.output)
        case .json: return Array(ComparisonReport.json(comparison).utf8)
        case .folded: return Array(ComparisonReport.folded(comparison, phases: phases).utf8)
        case .svg: return Array(ComparisonReport.svg(comparison, phases: phases).utf8)
        case .html: return ComparisonPage.html(of: comparison, compress: Gzip.compressed)
        }
    }

    /// nil: all.
    private static func phases(
        of comparison: ProfileComparison, _ options: CompareOptions
    ) throws(Reading.Failure) -> Set<Int>? {
        guard let phase = options.phase else { return nil }
        do {
            return try comparison.phases(named: phase)
        } catch {
            throw Reading.Failure(error)
        }
    }
}

package enum ComparisonFormat: String, CaseIterable, Sendable {
    case text, json, html, folded, svg
}

/// The options of `compare`.
package enum CompareRequest: Sendable {
    case files(CompareOptions)
    case versions(VersionCompareOptions)

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.isGiven(.from) {
            self = .versions(try VersionCompareOptions(arguments))
        } else {
            self = .files(try CompareOptions(arguments))
        }
    }
}

/// The options of `compare` for files.
package struct CompareOptions: Sendable {
    /// At least one each.
    package var before: [String]
    package var after: [String]
    package var format: ComparisonFormat
    package var phase: String?
    package var depth: Int?
    package var names: NameStyle
    /// True to compare launches even if they are not comparable.
    package var anyway: Bool
    /// nil: standard output.
    package var output: String?
    package var showsTimings: Bool
    /// Long names of given options that have no meaning for a measurement.
    package var forRecordings: [String]

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.isGiven(.machines) {
            throw UsageError(.compare, "--machines goes with --from only")
        }
        (before, after) = try Self.sides(arguments)
        format = arguments.text(.format).flatMap(ComparisonFormat.init) ?? .text
        phase = arguments.text(.phase)
        depth = arguments.integer(.depth)
        names = NameStyle(arguments)
        anyway = arguments.isGiven(.anyway)
        output = arguments.text(.output)
        showsTimings = arguments.isGiven(.timings)
        forRecordings = arguments.given(of: [.with, .phase, .depth, .demangle])
        try Self.check(arguments, format)
    }

    private static func sides(
        _ arguments: ParsedArguments
    ) throws(UsageError) -> (before: [String], after: [String]) {
        let files = arguments.operands
        guard let border = arguments.operandsBefore[.with] else {
            guard files.count == 2 else {
                throw UsageError(
                    .compare,
                    "more than 2 files: '\(files.last ?? "")'; to compare several on each side, "
                        + "put --with between the two sides")
            }
            return ([files[0]], [files[1]])
        }
        guard border > 0, border < files.count else {
            throw UsageError(
                .compare, "no file \(border == 0 ? "before" : "behind") --with")
        }
        return (Array(files.prefix(border)), Array(files.dropFirst(border)))
    }

    /// An option without effect is an error: otherwise a reader could mistake the whole for a part.
    private static func check(
        _ arguments: ParsedArguments, _ format: ComparisonFormat
    ) throws(UsageError) {
        let idle: Set<OptionName> =
            switch format {
            case .text: []
            case .json, .html: [.phase, .depth]
            case .folded, .svg: [.depth]
            }
        guard let given = arguments.given(of: idle).first else { return }
        throw UsageError(
            .compare,
            "--\(given) does not go with --format \(format.rawValue), which is complete")
    }
}

/// The options of `compare` for a store.
package struct VersionCompareOptions: Sendable {
    package var store: StoreAddress
    /// The versions as given: full names, or their beginnings.
    package var request: VersionRequest
    package var format: Format
    /// nil: standard output.
    package var output: String?
    package var showsTimings: Bool

    package enum Format: String, Sendable {
        case text, json
    }

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        store = try ShipOptions.store(arguments.text(.from) ?? "", "from", .compare)
        let operands = arguments.operands
        guard operands.count == 3 else {
            throw UsageError(
                .compare, "--from needs three operands: a program, and two of its versions")
        }
        request = VersionRequest(
            program: operands[0], before: operands[1], after: operands[2],
            machines: arguments.text(.machines).flatMap(LaunchHistory.Machines.init) ?? .alike)
        format = try Self.format(arguments)
        output = arguments.text(.output)
        showsTimings = arguments.isGiven(.timings)
        try Self.check(arguments)
    }

    private static func format(_ arguments: ParsedArguments) throws(UsageError) -> Format {
        guard let name = arguments.text(.format) else { return .text }
        guard let format = Format(rawValue: name) else {
            throw UsageError(
                .compare, "--format \(name) does not go with --from: it is for recordings")
        }
        return format
    }

    /// An option without effect is an error.
    private static func check(_ arguments: ParsedArguments) throws(UsageError) {
        let ofFiles: Set<OptionName> = [.with, .phase, .depth, .demangle, .anyway]
        guard let given = arguments.given(of: ofFiles).first else { return }
        throw UsageError(.compare, "--\(given) does not go with --from: it is for files")
    }
}

/// The options that only `compare` has.
extension OptionTable {
    static let comparing: [OptionDeclaration] = [
        .init(
            .with, "with", for: [.compare],
            """
            stands between several recordings of the program before the change and several of the \
            program after it
            """),
        .init(
            .format, "format", "FORMAT", .choice(ComparisonFormat.allCases.map(\.rawValue)),
            for: [.compare],
            """
            text (default), json (complete, for programs) or, for recordings, html (a page that needs \
            nothing else: both timelines, what changed, a differential flame graph), folded or svg, see \
            above
            """),
        .init(
            .anyway, "anyway", for: [.compare],
            """
            compare measurements even if their machines, kernels or conditions differ; the \
            difference may then come from these, not from the program
            """),
    ]
}
