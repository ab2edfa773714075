import Analysis
import Launching
import Measurer
import ProfileModel
import Report
import Sampler
import System

/// `firstlight gate`.
enum GateCommand {
    /// Measures until there is an answer, prints it, and returns the exit status.
    static func run(_ options: GateOptions, _ console: Console) -> Int32 {
        let begun = MonotonicTime.now
        let signals = MeasuringRun.takeSignals()
        let ending: GateEnding
        do throws(MeasuringFailure) {
            ending = try GateRun(options: options, signals: signals, console: console).run()
        } catch {
            console.complain(error.message)
            ending = .failed(error.message, status: error.status)
        }
        let shown = [
            show(ending, options, console),
            write(ending, options, duration: MonotonicTime.now - begun, console),
        ]
        // An answer must not be mistaken for another: a failure to print replaces only status 0.
        return ending.status == 0 ? shown.first { $0 != 0 } ?? 0 : ending.status
    }

    /// - Returns: the exit status of printing.
    private static func show(_ ending: GateEnding, _ options: GateOptions, _ console: Console)
        -> Int32
    {
        guard case .answered(let report, let explanation) = ending, !options.launching.isQuiet
        else { return 0 }
        switch options.launching.format {
        case .json: return printed(report.json(status: ending.status), console)
        case .text:
            let text = TextOptions(for: console.terminal(of: .output))
            let compared = explanation.map { "\n" + ComparisonReport.text($0, options: text) }
            return printed(console.words(report.text(options: text) + (compared ?? "")), console)
        }
    }

    /// Status 1 would mean a regression.
    private static func printed(_ text: String, _ console: Console) -> Int32 {
        let status = Output.print(text, to: console)
        return status == 1 ? OwnStatus.failure : status
    }

    private static func write(
        _ ending: GateEnding, _ options: GateOptions, duration: TimeSpan, _ console: Console
    ) -> Int32 {
        guard let path = options.junit else { return 0 }
        let xml = JUnitReport(ending, name: options.programName, duration: duration).render()
        return Output.write(Array(xml.utf8), to: path, console) == 0 ? 0 : OwnStatus.failure
    }
}

/// The options of `gate`.
package struct GateOptions: Hashable, Sendable {
    package static let launchRange = 7...10_000
    private static let usualLaunches = 40
    private static let usualRegression = 3.0

    /// The program to launch, the conditions, and the form of the answer.
    package var launching: MeasureOptions
    /// A command or a file, as the user wrote it.
    package var baseline: String
    /// How much slower is allowed, as a fraction.
    package var maxRegression: Double
    /// How many pairs are compared at most.
    package var maxLaunches: Int
    /// The path of JUnit's XML; nil: none.
    package var junit: String?
    /// True to explain a regression by one launch of each program with stacks.
    package var explains: Bool
    /// The path for the measurement; nil: it is not stored.
    package var output: String?

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        launching = try MeasureOptions(arguments)
        guard let baseline = arguments.text(.baseline) else {
            throw UsageError(
                .gate, "nothing to compare it with; name a command or a measurement by --baseline")
        }
        self.baseline = baseline
        maxRegression = (arguments.percent(.maxRegression) ?? Self.usualRegression) / 100
        maxLaunches = arguments.integer(.maxLaunches) ?? Self.usualLaunches
        junit = arguments.text(.junit)
        output = arguments.text(.output)
        explains = arguments.isGiven(.explain)
        if explains, launching.format != .text || launching.isQuiet {
            throw UsageError(
                .gate,
                "--explain is text, which "
                    + (launching.isQuiet ? "--quiet" : "--format json") + " does not show")
        }
    }

    /// The program's name, without its folder.
    package var programName: String {
        let word = launching.program.first?.text ?? ""
        return word.split(separator: "/").last.map(String.init) ?? word
    }
}

/// The options of `gate` that `measure` does not have.
extension OptionTable {
    static let gating: [OptionDeclaration] = [
        .init(
            .baseline, "baseline", "COMMAND|FILE", .text, for: [.gate],
            """
            what PROGRAM is compared with: a measurement that was kept, or a command. The command is \
            one word to your shell; it is split at spaces, with quotes and backslashes as in a shell, \
            but no shell is run
            """),
        .init(
            .maxRegression, "max-regression", "P", .percent, for: [.gate],
            "how much slower is allowed, in percent (default: 3%); less than 2 ms always is"),
        .init(
            .maxLaunches, "max-launches", "N", .integer(GateOptions.launchRange), for: [.gate],
            """
            how many launches of each are compared at most, from 7 to 10000 (default: 40); confirming \
            a regression takes as many again
            """),
        .init(
            .explain, "explain", for: [.gate],
            """
            after a regression, record one launch of each with stacks, and show where the difference \
            comes from, as compare does
            """),
        .init(
            .junit, "junit", "FILE", .text, for: [.gate],
            "write the answer as JUnit's XML, too: a test suite 'firstlight gate' with one test"),
        .init(
            .output, "output", short: "o", "FILE", .text, for: [.gate],
            """
            where the measurement goes (default: nowhere); an older one there is kept as FILE.old
            """),
    ]
}

/// How a gate ended.
enum GateEnding {
    case answered(GateReport, explanation: ProfileComparison?)
    /// There is no answer; the reason was reported.
    case failed(String, status: Int32)

    var status: Int32 {
        switch self {
        case .answered(let report, _): report.result.outcome.status
        // For `measure` this means "gave up"; for a gate it would mean a regression.
        case .failed(_, let status):
            status == OwnStatus.gaveUp ? OwnStatus.failure : status
        }
    }
}

extension GateOutcome {
    fileprivate var status: Int32 {
        switch self {
        case .passed: 0
        case .regression: 1
        case .inconclusive: 3
        }
    }
}

extension JUnitReport {
    init(_ ending: GateEnding, name: String, duration: TimeSpan) {
        let (result, details): (Result, [String]) =
            switch ending {
            case .failed(let reason, _): (.broken(reason), [])
            case .answered(let report, _):
                switch report.result.outcome {
                case .passed: (.passed, [report.verdict] + report.grounds)
                case .regression: (.failed(report.verdict), report.grounds)
                case .inconclusive: (.skipped(report.verdict), report.grounds)
                }
            }
        self.init(
            suite: "firstlight gate", name: name, result: result, duration: duration,
            details: details)
    }
}
