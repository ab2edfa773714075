import Analysis
import Compression
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
