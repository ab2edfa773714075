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
            a list of what was dealt with, a JSON object in each line: it is left out of the lists, \
            and shown first if newer launches have it again
            """),
        .init(
            .resolve, "resolve", "[KIND=]NAME", .text, for: [.top],
            """
            add NAME to the list of --resolved, dealt with from now on: as it is shown, or the \
            beginning of one name; KIND is function, wait, initializer, library or process (default: \
            all of that name). May be given several times
            """),
    ]
}
