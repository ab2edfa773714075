/// The options that only `compare` has.
extension OptionTable {
    static let comparing: [OptionDeclaration] = [
        .init(
            .with, "with", for: [.compare],
            """
            stands between several recordings of the program before the change and several of the \
            program after it
            """),
        .init(
            .format, "format", "FORMAT", .choice(ComparisonFormat.allCases.map(\.rawValue)),
            for: [.compare],
            """
            text (default), json (complete, for programs) or, for recordings, html (a page that needs \
            nothing else: both timelines, what changed, a differential flame graph), folded or svg, see \
            above
            """),
        .init(
            .anyway, "anyway", for: [.compare],
            """
            compare measurements even if their machines, kernels or conditions differ; the \
            difference may then come from these, not from the program
            """),
    ]
}
