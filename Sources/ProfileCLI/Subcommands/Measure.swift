import Analysis
package import Launching
import Measurer
import ProcessIO
package import ProfileModel
import Readiness
import Recording
import Report
import Sampler

/// `firstlight measure`.
enum MeasureCommand {
    /// Measures, prints the summary, and returns the exit status.
    static func run(_ options: MeasureOptions, _ console: Console) -> Int32 {
        let signals = MeasuringRun.takeSignals()
        do throws(MeasuringFailure) {
            return try measure(options, signals, console)
        } catch {
            console.complain(error.message)
            return error.status
        }
    }

    private static func measure(
        _ options: MeasureOptions, _ signals: SignalQueue, _ console: Console
    ) throws(MeasuringFailure) -> Int32 {
        try MeasuringFailure.attempt { () throws(RecordingError) in
            try RecordingFile.checkWritable(options.output, for: .measurement)
        }
        var run = try MeasuringRun(options, signals, console)
        let result = try run.launch(keptIn: options.output)
        let shown = show(run.measurement, options, console)
        run.tellEnd(of: result)
        if result.end == .complete, options.thenRecords {
            try TypicalLaunch(
                options: options, measurement: run.measurement, launcher: run.launcher
            ).record(console)
        }
        let status = run.status(of: result)
        return status == 0 ? shown : status
    }

    /// Prints the summary, whatever the number of launches.
    ///
    /// - Returns: the exit status of printing.
    private static func show(
        _ measurement: Measurement, _ options: MeasureOptions, _ console: Console
    ) -> Int32 {
        guard !options.isQuiet, !measurement.launches.isEmpty else { return 0 }
        let summary = MeasurementSummary(of: measurement)
        switch options.format {
        case .json:
            return Output.print(MeasurementReport.json(measurement, summary), to: console)
        case .text:
            let text = TextOptions(for: console.terminal(of: .output))
            return Output.print(
                console.words(MeasurementReport.text(measurement, summary, options: text)),
                to: console)
        }
    }
}

/// The options of `measure`, and those that `gate` shares with it.
package struct MeasureOptions: Hashable, Sendable {
    package static let defaultOutput = "launches.firstlight"
    package static let mostLaunches = 100_000
    private static let usualLaunches = 10
    /// A program that hangs must not block a measurement all night.
    package static let usualWatchdog = TimeSpan.milliseconds(60_000)

    /// The program's home.
    package enum Home: Hashable, Sendable {
        /// Our own home.
        case own
        /// An empty one for each launch.
        case fresh
        /// A copy of this folder for each launch.
        case copy(of: String)
    }

    package var program: [CommandWord]
    /// The program to compare with; nil: none.
    package var against: [String]?
    /// How many launches of each program should count.
    package var launches: Int
    /// When a launch is over.
    package var end: LaunchEndOptions
    /// How to treat a program that is ready.
    package var after: AfterRecording
    package var cache: MeasuredConditions.Cache
    /// As given by the user; nil: the machine's own.
    package var network: String?
    package var disk: String?
    package var home: Home
    /// The path of a file of variables.
    package var environmentFile: String?
    /// For `/bin/sh -c`.
    package var before: String?
    package var between: String?
    /// True to end daemons that a launch leaves behind.
    package var endsDaemons: Bool
    /// The path of the measurement.
    package var output: String
    package var versionName: String?
    /// True to record one more launch, with stacks.
    package var thenRecords: Bool
    package var format: CheckFormat
    /// True to leave out the summary.
    package var isQuiet: Bool

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        try Self.checkPairs(arguments)
        guard !arguments.program.isEmpty else {
            throw UsageError(arguments.subcommand, "nothing to measure")
        }
        program = arguments.program
        against = try Self.against(arguments)
        launches = arguments.integer(.launches) ?? Self.usualLaunches
        end = try Self.end(arguments)
        after = arguments.text(.after).flatMap(AfterRecording.init) ?? .stop
        cache = Self.cache(arguments)
        network = arguments.text(.network)
        disk = arguments.text(.disk)
        home = Self.home(arguments)
        environmentFile = arguments.text(.envFile)
        before = arguments.text(.before)
        between = arguments.text(.between)
        endsDaemons = arguments.isGiven(.clean)
        output = arguments.text(.output) ?? Self.defaultOutput
        versionName = arguments.text(.versionName)
        thenRecords = arguments.isGiven(.thenRecord)
        format = arguments.text(.format).flatMap(CheckFormat.init) ?? .text
        isQuiet = arguments.isGiven(.quiet)
        if after == .keep, !end.awaitsReadiness {
            throw UsageError(
                arguments.subcommand,
                "--after needs a program that becomes ready; say with --until when that is")
        }
    }

    /// The path for the launch with stacks.
    package var recordingPath: String {
        let ending = ".firstlight"
        let stem = output.hasSuffix(ending) ? String(output.dropLast(ending.count)) : output
        return stem + ".launch" + ending
    }

    // MARK: - Parts

    /// Contradicting options are an error.
    private static func checkPairs(_ arguments: ParsedArguments) throws(UsageError) {
        let pairs: [(OptionName, OptionName)] = [
            (.warm, .cold), (.freshHome, .home), (.quiet, .format),
        ]
        for (left, right) in pairs where arguments.isGiven(left) && arguments.isGiven(right) {
            let names = OptionTable.options(of: arguments.subcommand)
                .filter { $0.name == left || $0.name == right }.map { "--" + $0.long }
            throw UsageError(
                arguments.subcommand, names.joined(separator: " and ") + " do not go together")
        }
    }

    private static func home(_ arguments: ParsedArguments) -> Home {
        if let folder = arguments.text(.home) { return .copy(of: folder) }
        return arguments.isGiven(.freshHome) ? .fresh : .own
    }

    private static func cache(_ arguments: ParsedArguments) -> MeasuredConditions.Cache {
        guard arguments.isGiven(.cold) else { return .warm }
        switch arguments.text(.cold) {
        case "all": return .coldAll
        case "copies": return .coldCopies
        default: return .cold
        }
    }

    private static func end(_ arguments: ParsedArguments) throws(UsageError) -> LaunchEndOptions {
        var end = try LaunchEndOptions(arguments)
        for case .mark(let name) in end.until {
            throw UsageError(
                arguments.subcommand,
                "--until mark:\(name) is for record: \(arguments.subcommand.rawValue) puts no marks "
                    + "into a program; a signpost would do")
        }
        if end.watchdog == nil, end.awaitsReadiness { end.watchdog = usualWatchdog }
        return end
    }

    private static func against(_ arguments: ParsedArguments) throws(UsageError) -> [String]? {
        guard let text = arguments.text(.against) else { return nil }
        do {
            return try CommandSplitting.words(of: text)
        } catch {
            throw UsageError(arguments.subcommand, "--against: \(error.description)")
        }
    }
}

/// The options of `measure`, most of which are `gate`'s, too.
extension OptionTable {
    /// The subcommands that launch programs many times.
    private static let launching: Set<Subcommand> = [.measure, .gate]

    static let measuring: [OptionDeclaration] = [
        .init(
            .launches, "launches", short: "n", "N", .integer(1...MeasureOptions.mostLaunches),
            for: [.measure],
            "how many launches are to count, up to 100000 (default: 10)"),
        .init(
            .against, "against", "COMMAND", .text, for: [.measure],
            """
            measure a second program in turns with PROGRAM, and show the difference. COMMAND is one \
            word to your shell; it is split at spaces, with quotes and backslashes as in a shell, but \
            no shell is run
            """),
        .init(
            .until, "until", "CONDITION", .text, for: launching,
            "when a launch is over: " + ReadyArgument.help(.measure)),
        .init(
            .watchdog, "watchdog", "TIME", .duration, for: launching,
            """
            a launch that is not over after TIME hangs: it is ended, and does not count (default: 1m \
            if --until names anything but exit, otherwise none)
            """),
        .init(
            .after, "after", "WHAT", .choice(AfterRecording.allCases.map(\.rawValue)),
            for: launching,
            """
            what happens to the program when it is ready (--until): keep it running until it ends by \
            itself, or stop it with SIGTERM, and with SIGKILL after ten seconds (default)
            """),
        .init(
            .warm, "warm", for: launching,
            "leave in the page cache what the previous launch left there (default)"),
        .init(
            .cold, "cold", "all|copies", .optional(["all", "copies"]), for: launching,
            """
            before each launch, remove from the page cache the files that the last one used; a launch \
            that is not proven to be cold does not count. With =copies, the program sees private \
            copies in place of the files, which no other process keeps in the cache (the files \
            stay as they are); with =all, everything is removed (root only)
            """),
        .init(
            .network, "network", "NETWORK", .text, for: [.record, .measure, .gate],
            """
            what network the program has: airplane (none at all), none (the same), the name of a \
            slow one (3G, Edge, LTE, DSL, "Very Bad Network" ...), or RATE,DELAY,LOSS
            """),
        .init(
            .disk, "disk", "RATE", .text, for: [.record, .measure, .gate],
            """
            how much the program may read from disks in a second: 500K, 1M, 1.5MB; reading from the \
            page cache is not slowed
            """),
        .init(
            .clean, "clean", for: launching,
            "also end the daemons that a launch has left behind; without it they are named"),
        .init(
            .before, "before", "COMMAND", .text, for: launching,
            "run COMMAND by /bin/sh before each launch"),
        .init(
            .between, "between", "COMMAND", .text, for: launching,
            "run COMMAND by /bin/sh between two launches"),
        .init(
            .envFile, "env-file", "FILE", .text, for: launching,
            """
            add the variables in FILE to the program's environment: one NAME=VALUE in each line, \
            quoted as in a shell or not; nothing is expanded
            """),
        .init(
            .freshHome, "fresh-home", for: launching,
            """
            give each launch an empty folder as HOME, and others below it as XDG_CONFIG_HOME, \
            XDG_CACHE_HOME and so on: the first launch after installation
            """),
        .init(
            .home, "home", "DIR", .text, for: launching,
            "the same, with a copy of DIR as HOME for each launch"),
        .init(
            .output, "output", short: "o", "FILE", .text, for: [.measure],
            """
            where the measurement goes (default: \(MeasureOptions.defaultOutput)); an older one there \
            is kept as FILE.old
            """),
        .init(
            .versionName, "version-name", "NAME", .text, for: launching,
            "what to call the program's version in the measurement"),
        .init(
            .thenRecord, "then-record", for: [.measure],
            """
            record one more launch at the end, with stacks and under the same conditions, and say how \
            far it was from the median; the recording is FILE with .launch.firstlight at its end
            """),
        .init(
            .format, "format", "FORMAT", .choice(CheckFormat.allCases.map(\.rawValue)),
            for: launching, "text (default) or json (for programs)"),
        .init(
            .quiet, "quiet", for: launching, "print no summary at the end, and no progress"),
    ]
}

/// The launch with stacks after a measurement (`--then-record`).
struct TypicalLaunch {
    let options: MeasureOptions
    let measurement: Measurement
    let launcher: ProgramLauncher

    /// Records it, and reports how far it was from the median.
    func record(_ console: Console) throws(MeasuringFailure) {
        let path = options.recordingPath
        let launch = StackedLaunch(options: options, launcher: launcher)
        guard let profile = try launch.record(arm: 0, to: path, tell: { console.complain($0) }),
            let median = MeasurementSummary(of: measurement).arms.first?.wall?.median
        else { return }
        console.complain(
            MeasuringWords.typical(
                path: path, wall: profile.launch.wall,
                median: TimeSpan(nanoseconds: Int64(median))))
    }
}
