import Launching
import Sampler

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
