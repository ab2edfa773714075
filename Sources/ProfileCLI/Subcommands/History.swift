package import Analysis
package import ClickHouse
package import ProfileModel
import Recording
import Report

/// `firstlight history`.
enum HistoryCommand {
    /// Shows a history or adds to one, and returns the exit status.
    static func run(_ options: HistoryOptions, _ console: Console) -> Int32 {
        switch options {
        case .show(let showing): return HistoryReading.run(showing, console)
        case .add(let files, let folder):
            let added = files.map { add($0, to: folder, console) }
            return added.allSatisfy(\.self) ? 0 : 1
        }
    }

    private static func add(_ file: String, to folder: String, _ console: Console) -> Bool {
        do throws(RecordingError) {
            switch try MeasurementFolder.add(file, to: folder) {
            case .new(let path): return told("added \(file) as \(path)", console)
            case .known(let path): return told("\(file) is already there as \(path)", console)
            }
        } catch {
            console.complain(error.description)
            return false
        }
    }

    private static func told(_ text: String, _ console: Console) -> Bool {
        Output.print(console.words(Console.oneLine(text) + "\n"), to: console) == 0
    }
}

package enum HistoryFormat: String, CaseIterable, Sendable {
    case text, json, html
}

/// The options of `history`.
package enum HistoryOptions: Sendable {
    case show(Showing)
    case add(files: [String], folder: String)

    package struct Showing: Sendable {
        /// Files and folders, at least one; for a store, names of programs.
        package var sources: [String]
        package var grouping: LaunchHistory.Grouping
        package var machines: LaunchHistory.Machines
        /// nil: files.
        package var store: StoreAddress?
        package var goal: TimeSpan?
        package var format: HistoryFormat
        /// nil: standard output.
        package var output: String?
        package var showsTimings: Bool
    }

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        let added = arguments.texts(.add)
        guard added.isEmpty else {
            self = .add(files: added, folder: try Self.folder(arguments))
            return
        }
        if arguments.isGiven(.to) { throw UsageError(.history, "--to goes with --add only") }
        let store = try arguments.text(.from).map { text throws(UsageError) in
            try ShipOptions.store(text, "from", .history)
        }
        guard store != nil || !arguments.operands.isEmpty else {
            throw UsageError(
                .history, "no folder or file given" + UsageError.seeHelp(.history))
        }
        self = .show(
            Showing(
                sources: arguments.operands,
                grouping: arguments.text(.by).flatMap(LaunchHistory.Grouping.init) ?? .version,
                machines: arguments.text(.machines).flatMap(LaunchHistory.Machines.init)
                    ?? (store == nil ? .each : .alike),
                store: store,
                goal: arguments.duration(.goal),
                format: arguments.text(.format).flatMap(HistoryFormat.init) ?? .text,
                output: arguments.text(.output), showsTimings: arguments.isGiven(.timings)))
    }

    /// The folder to which measurements are added. An option without effect is an error.
    private static func folder(_ arguments: ParsedArguments) throws(UsageError) -> String {
        guard let folder = arguments.text(.to) else {
            throw UsageError(.history, "--add needs the folder: --to DIR")
        }
        if let operand = arguments.operands.first {
            throw UsageError(
                .history,
                "'\(operand)' does not go with --add, which shows nothing; each file needs an --add"
            )
        }
        let idle: [OptionName] = [.by, .machines, .from, .goal, .format, .output, .timings]
        let given = OptionTable.options(of: .history).first {
            idle.contains($0.name) && arguments.isGiven($0.name)
        }
        if let given {
            throw UsageError(
                .history, "--\(given.long) does not go with --add, which shows nothing")
        }
        return folder
    }
}

/// The options of `history`.
extension OptionTable {
    static let history: [OptionDeclaration] = [
        .init(
            .by, "by", "WHAT", .choice(LaunchHistory.Grouping.allCases.map(\.rawValue)),
            for: [.history],
            """
            what a point is: version (default; as measure --version-name named it, in the order in \
            which versions were first measured) or day (of UTC)
            """),
        .init(
            .goal, "goal", "TIME", .duration, for: [.history],
            """
            what a launch should take at most, like 400ms: shown as a line, with how many versions \
            or days meet it (the exit status does not change)
            """),
        .init(
            .format, "format", "FORMAT", .choice(HistoryFormat.allCases.map(\.rawValue)),
            for: [.history],
            """
            text (default), json (complete, for programs) or html (a page for a browser that needs \
            nothing else)
            """),
        .init(
            .output, "output", short: "o", "FILE", .text, for: [.history],
            "the file to write (default: standard output)"),
        .init(
            .timings, "timings", for: [.history],
            "print to standard error how long each step took"),
        .init(
            .add, "add", "FILE", .text, for: [.history],
            """
            show nothing, but copy the measurement FILE to the folder --to, under a name made of its \
            date, its version and a hash. May be given several times
            """),
        .init(
            .to, "to", "DIR", .text, for: [.history],
            "the folder for --add; a missing folder is made"),
    ]
}

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
