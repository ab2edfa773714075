import Analysis
import Glibc
import ProfileModel
import Recording
import Report

/// `firstlight top`.
enum TopCommand {
    /// Prints what costs most, and returns the exit status.
    static func run(_ options: TopOptions, _ console: Console) -> Int32 {
        var timings = Timings()
        var reading: TopReading?
        let status = Reading.write(to: options.output, console) { () throws(Reading.Failure) in
            let list = try ResolvedFile(options.resolved, isMade: !options.resolve.isEmpty)
            list.complain(to: console)
            var read = TopReading(options, resolved: list.entries)
            read.readAll(console)
            reading = read
            read.addTimings(to: &timings)
            guard read.sums.launches > 0 else {
                throw Reading.Failure("nothing to show: none of these is a recording of a launch")
            }
            let added = try list.add(options.resolve, read.sums, console)
            let summary = try attempt { () throws(TopError) in
                try TopSummary(read.sums, resolvedNow: added)
            }
            return timings.measure("printing") {
                render(summary, read.leftOut, options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        // What could not be read is missing in what was printed.
        return status == 0 && (reading?.isIncomplete ?? false) ? 1 : status
    }

    private static func render(
        _ summary: TopSummary, _ leftOut: [(path: String, reason: String)],
        _ options: TopOptions, _ console: Console
    ) -> [UInt8] {
        switch options.format {
        case .json: return Array(TopReport.json(summary, leftOut: leftOut).utf8)
        case .text:
            let terminal = Output.terminal(for: options.output, console)
            var text = TextOptions()
            text.width = terminal.width
            text.usesColour = terminal.usesColour
            text.depth = options.depth
            return Array(TopReport.text(summary, options: text).utf8)
        }
    }

    static func attempt<Value>(
        _ body: () throws(TopError) -> Value
    ) throws(Reading.Failure) -> Value {
        do {
            return try body()
        } catch {
            throw Reading.Failure(error.description)
        }
    }
}
