import Analysis
import ClickHouse
import Recording
import Report

/// `firstlight history` for files and folders.
enum HistoryReading {
    /// - Returns: also 1 if something could not be read; the rest is shown.
    static func run(_ options: HistoryOptions.Showing, _ console: Console) -> Int32 {
        var timings = Timings()
        var isWhole = true
        let status = Output.write(to: options.output, console) { () throws(Reading.Failure) in
            let history = try timings.measure("reading") { () throws(Reading.Failure) in
                guard let address = options.store else {
                    return try read(options, console, &isWhole)
                }
                return try ask(address, options)
            }
            return timings.measure("printing") { render(history, options, console) }
        }
        if options.showsTimings { timings.print(to: console) }
        return status == 0 && !isWhole ? 1 : status
    }

    /// One file after another; only a summary of each is kept.
    private static func read(
        _ options: HistoryOptions.Showing, _ console: Console, _ isWhole: inout Bool
    ) throws(Reading.Failure) -> LaunchHistory {
        var builder = HistoryBuilder(machines: options.machines)
        var found = 0
        for source in options.sources {
            do throws(RecordingError) {
                let files =
                    MeasurementFolder.isFolder(source)
                    ? try MeasurementFolder.files(in: source) : [source]
                found += files.count
                for file in files where !take(file, &builder, console) { isWhole = false }
            } catch {
                console.complain(error.description)
                isWhole = false
            }
        }
        let history = builder.history(by: options.grouping, goal: options.goal)
        guard !history.series.isEmpty else { throw Reading.Failure(nothing(found, options)) }
        return history
    }

    private static func ask(
        _ address: StoreAddress, _ options: HistoryOptions.Showing
    ) throws(Reading.Failure) -> LaunchHistory {
        let history = try StoreAccess.asked(address) { store throws(StoreError) in
            try store.history(
                of: options.sources, by: options.grouping, machines: options.machines,
                goal: options.goal)
        }
        guard !history.series.isEmpty else {
            throw Reading.Failure("\(address): no measurement of these programs was shipped there")
        }
        return history
    }

    private static func nothing(_ found: Int, _ options: HistoryOptions.Showing) -> String {
        let places = options.sources.joined(separator: ", ")
        return found == 0
            ? "\(places): no measurement (*.firstlight) there; make one with 'firstlight measure -o'"
            : "\(places): no measurement there can be shown"
    }

    /// - Returns: true if it could be read.
    private static func take(
        _ file: String, _ builder: inout HistoryBuilder, _ console: Console
    ) -> Bool {
        do throws(RecordingError) {
            if let reason = builder.add(try MeasurementReader.load(path: file), file: file) {
                console.complain("\(file): \(reason); it is left out")
            }
            return true
        } catch {
            console.complain(error.description + "; it is left out")
            let start = "\(file): "
            let reason = error.description
            builder.leaveOut(
                file,
                because: reason.hasPrefix(start) ? String(reason.dropFirst(start.count)) : reason)
            return false
        }
    }

    private static func render(
        _ history: LaunchHistory, _ options: HistoryOptions.Showing, _ console: Console
    ) -> [UInt8] {
        switch options.format {
        case .html: return HistoryReport.html(history)
        case .json: return Array(HistoryReport.json(history).utf8)
        case .text:
            let text = TextOptions(for: Output.terminal(for: options.output, console))
            return console.bytes(
                HistoryReport.text(history, options: text), for: options.output)
        }
    }
}
