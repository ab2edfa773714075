import Analysis
import Compression
import Exports
import Report

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
