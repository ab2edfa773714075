import Sampler

/// What `gate` is asked to do.
package struct GateOptions: Hashable, Sendable {
    package static let launchRange = 7...10_000
    private static let usualLaunches = 40
    private static let usualRegression = 3.0

    /// What is launched, under what conditions, and how the answer is shown.
    package var launching: MeasureOptions
    /// A command or a file, as the user wrote it.
    package var baseline: String
    /// How much slower is allowed, as a share.
    package var maxRegression: Double
    /// How many pairs are compared at most.
    package var maxLaunches: Int
    /// The path of JUnit's XML; nil: none.
    package var junit: String?
    /// Whether a regression is explained by a launch of each with stacks.
    package var explains: Bool
    /// The path of the measurement; nil: it is not kept.
    package var output: String?

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        launching = try MeasureOptions(arguments)
        guard let baseline = arguments.text(.baseline) else {
            throw UsageError(
                .gate, "nothing to hold it against; name a command or a measurement by --baseline")
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

    /// What the program is called, without its folder.
    package var programName: String {
        let word = launching.program.first?.text ?? ""
        return word.split(separator: "/").last.map(String.init) ?? word
    }
}
