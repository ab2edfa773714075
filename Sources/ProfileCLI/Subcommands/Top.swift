import Analysis
import ClickHouse
import ProfileModel
import Recording
import Report

/// `firstlight top`.
enum TopCommand {
    /// Prints what costs most, and returns the exit status.
    static func run(_ options: TopOptions, _ console: Console) -> Int32 {
        if let address = options.store { return ask(address, options, console) }
        var timings = Timings()
        var reading: TopReading?
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
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
            let summary = try TopReading.attempt { () throws(TopError) in
                try TopSummary(read.sums, resolvedNow: added)
            }
            return timings.measure("printing") {
                render(summary, read.leftOut, options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        // Unreadable recordings are missing in the output.
        return status == 0 && (reading?.isIncomplete ?? false) ? 1 : status
    }

    /// The sums in a store.
    private static func ask(
        _ address: StoreAddress, _ options: TopOptions, _ console: Console
    ) -> Int32 {
        var timings = Timings()
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let sums = try timings.measure("asking") { () throws(Reading.Failure) in
                try stored(address, options)
            }
            guard sums.launches > 0 else {
                throw Reading.Failure(
                    "\(address): no recording of these programs was shipped there")
            }
            let summary: TopSummary = try TopReading.attempt { () throws(TopError) in
                try TopSummary(sums)
            }
            return timings.measure("printing") { () -> [UInt8] in
                render(summary, [], options, console)
            }
        }
        if options.showsTimings { timings.print(to: console) }
        return status
    }

    private static func stored(
        _ address: StoreAddress, _ options: TopOptions
    ) throws(Reading.Failure) -> TopSums {
        var phase: String?
        if let wanted = options.phase {
            let names = try StoreAccess.asked(address) { store throws(StoreError) in
                try store.phases(of: options.paths)
            }
            phase = try TopReading.attempt { () throws(TopError) in
                try TopSums.phase(named: wanted, in: names)
            }
        }
        let found = try StoreAccess.asked(address) { store throws(StoreError) in
            try store.top(of: options.paths, phase: phase)
        }
        return TopSums(found, phase: phase)
    }

    private static func render(
        _ summary: TopSummary, _ leftOut: [(path: String, reason: String)],
        _ options: TopOptions, _ console: Console
    ) -> [UInt8] {
        switch options.format {
        case .json: return Array(TopReport.json(summary, leftOut: leftOut).utf8)
        case .text:
            var text = TextOptions(for: Output.terminal(for: options.output, console))
            text.depth = options.depth
            return console.bytes(TopReport.text(summary, options: text), for: options.output)
        }
    }
}
