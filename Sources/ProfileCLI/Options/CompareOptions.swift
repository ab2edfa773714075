package import Report

package enum ComparisonFormat: String, CaseIterable, Sendable {
    case text, json, html, folded, svg
}

/// What `compare` is asked for.
package struct CompareOptions: Sendable {
    package var before: String
    package var after: String
    package var format: ComparisonFormat
    package var phase: String?
    package var depth: Int?
    package var names: NameStyle
    /// nil: standard output.
    package var output: String?
    package var showsTimings: Bool

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        before = arguments.operands.first ?? ""
        after = arguments.operands.last ?? ""
        format = arguments.text(.format).flatMap(ComparisonFormat.init) ?? .text
        phase = arguments.text(.phase)
        depth = arguments.integer(.depth)
        names = NameStyle(arguments)
        output = arguments.text(.output)
        showsTimings = arguments.isGiven(.timings)
        try Self.check(arguments, format)
    }

    /// An option without effect is an error, so that nobody takes the whole for a part.
    private static func check(
        _ arguments: ParsedArguments, _ format: ComparisonFormat
    ) throws(UsageError) {
        let idle: [OptionName] =
            switch format {
            case .text: []
            case .json, .html: [.phase, .depth]
            case .folded, .svg: [.depth]
            }
        let given = OptionTable.options(of: .compare).first {
            idle.contains($0.name) && arguments.isGiven($0.name)
        }
        guard let given else { return }
        throw UsageError(
            .compare,
            "--\(given.long) does not go with --format \(format.rawValue), which is complete")
    }
}
