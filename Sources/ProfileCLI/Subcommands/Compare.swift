import Analysis
import Recording
import Report

/// `firstlight compare`.
enum CompareCommand {
    /// Prints the comparison, and returns the exit status.
    static func run(_ options: CompareOptions, _ console: Console) -> Int32 {
        for file in [options.before, options.after]
        where (try? FileKind(of: file)) == .measurement {
            let problem = UsageError(
                .compare, "\(file) is a measurement; only recordings can be compared so far")
            console.complain(problem.description)
            return problem.exitStatus
        }
        var timings = Timings()
        let status = Reading.write(to: options.output, console) { () throws(Reading.Failure) in
            let before = try Reading.profile(
                of: options.before, names: options.names, &timings)
            let after = try Reading.profile(of: options.after, names: options.names, &timings)
            let comparison = timings.measure("comparing") {
                ProfileComparison(before: before, after: after)
            }
            return try timings.measure("printing") { () throws(Reading.Failure) in
                try render(comparison, options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    private static func render(
        _ comparison: ProfileComparison, _ options: CompareOptions, _ console: Console
    ) throws(Reading.Failure) -> [UInt8] {
        let phases = try phases(of: comparison, options)
        switch options.format {
        case .text:
            let terminal = Output.terminal(for: options.output, console)
            var text = TextOptions()
            text.width = terminal.width
            text.usesColour = terminal.usesColour
            text.depth = options.depth
            return Array(
                ComparisonReport.text(comparison, phases: phases, options: text).utf8)
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
