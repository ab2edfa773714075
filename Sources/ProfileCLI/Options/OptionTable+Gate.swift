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
