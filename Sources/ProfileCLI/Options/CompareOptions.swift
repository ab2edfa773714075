package import Exports
import ProcessIO
internal import Report

package enum ComparisonFormat: String, CaseIterable, Sendable {
    case text, json, html, folded, svg
}

/// The options of `compare`.
package enum CompareRequest: Sendable {
    case files(CompareOptions)
    case versions(VersionCompareOptions)

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.isGiven(.from) {
            self = .versions(try VersionCompareOptions(arguments))
        } else {
            self = .files(try CompareOptions(arguments))
        }
    }
}

/// The options of `compare` for files.
package struct CompareOptions: Sendable {
    /// At least one each.
    package var before: [String]
    package var after: [String]
    package var format: ComparisonFormat
    package var phase: String?
    package var depth: Int?
    package var names: NameStyle
    /// True to compare launches even if they are not comparable.
    package var anyway: Bool
    /// nil: standard output.
    package var output: String?
    package var showsTimings: Bool
    /// Long names of given options that have no meaning for a measurement.
    package var forRecordings: [String]

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        if arguments.isGiven(.machines) {
            throw UsageError(.compare, "--machines goes with --from only")
        }
        (before, after) = try Self.sides(arguments)
        format = arguments.text(.format).flatMap(ComparisonFormat.init) ?? .text
        phase = arguments.text(.phase)
        depth = arguments.integer(.depth)
        names = NameStyle(arguments)
        anyway = arguments.isGiven(.anyway)
        output = arguments.text(.output)
        showsTimings = arguments.isGiven(.timings)
        forRecordings = arguments.given(of: [.with, .phase, .depth, .demangle])
        try Self.check(arguments, format)
    }

    private static func sides(
        _ arguments: ParsedArguments
    ) throws(UsageError) -> (before: [String], after: [String]) {
        let files = arguments.operands
        guard let border = arguments.operandsBefore[.with] else {
            guard files.count == 2 else {
                throw UsageError(
                    .compare,
                    "more than 2 files: '\(files.last ?? "")'; to compare several on each side, "
                        + "put --with between the two sides")
            }
            return ([files[0]], [files[1]])
        }
        guard border > 0, border < files.count else {
            throw UsageError(
                .compare, "no file \(border == 0 ? "before" : "behind") --with")
        }
        return (Array(files.prefix(border)), Array(files.dropFirst(border)))
    }

    /// An option without effect is an error: otherwise a reader could mistake the whole for a part.
    private static func check(
        _ arguments: ParsedArguments, _ format: ComparisonFormat
    ) throws(UsageError) {
        let idle: Set<OptionName> =
            switch format {
            case .text: []
            case .json, .html: [.phase, .depth]
            case .folded, .svg: [.depth]
            }
        guard let given = arguments.given(of: idle).first else { return }
        throw UsageError(
            .compare,
            "--\(given) does not go with --format \(format.rawValue), which is complete")
    }
}
