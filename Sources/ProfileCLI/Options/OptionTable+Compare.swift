/// The options that only `compare` has.
extension OptionTable {
    static let comparing: [OptionDeclaration] = [
        .init(
            .with, "with", for: [.compare],
            """
            the files before it are of the program before the change, those behind it of the program \
            after it: several recordings of each
            """),
        .init(
            .format, "format", "FORMAT", .choice(ComparisonFormat.allCases.map(\.rawValue)),
            for: [.compare],
            """
            text (default), json (complete, for programs) or, of recordings, html (a page that needs \
            nothing else: both timelines, what changed, a differential flame graph), folded or svg, see \
            above
            """),
        .init(
            .anyway, "anyway", for: [.compare],
            """
            compare measurements of different machines, kernels or conditions, too, whose figures are \
            no measure for each other
            """),
    ]
}
