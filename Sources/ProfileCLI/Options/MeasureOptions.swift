package import Launching
package import ProfileModel
import Readiness
import Sampler

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
