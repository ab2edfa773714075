import Analysis

/// The options of `top` that no other subcommand has.
extension OptionTable {
    static let topping: [OptionDeclaration] = [
        .init(
            .format, "format", "FORMAT", .choice(TopFormat.allCases.map(\.rawValue)),
            for: [.top], "text (default) or json (complete, for programs)"),
        .init(
            .resolved, "resolved", "FILE", .text, for: [.top],
            """
            a list of what was resolved, a JSON object in each line: the lists leave it out, and it is \
            shown first if newer launches have it again
            """),
        .init(
            .resolve, "resolve", "[KIND=]NAME", .text, for: [.top],
            """
            add NAME to the list of --resolved, as resolved from now on: a name as it is shown, or its \
            beginning; KIND is function, wait, initializer, library or process (default: all with \
            that name). May be given several times
            """),
    ]
}
