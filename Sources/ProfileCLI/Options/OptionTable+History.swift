import Analysis

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
