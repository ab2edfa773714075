package import Analysis
package import ClickHouse
import ProcessIO

/// The options of `compare` for a store.
package struct VersionCompareOptions: Sendable {
    package var store: StoreAddress
    /// The versions as given: full names, or their beginnings.
    package var request: VersionRequest
    package var format: Format
    /// nil: standard output.
    package var output: String?
    package var showsTimings: Bool

    package enum Format: String, Sendable {
        case text, json
    }

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        store = try ShipOptions.store(arguments.text(.from) ?? "", "from", .compare)
        let operands = arguments.operands
        guard operands.count == 3 else {
            throw UsageError(
                .compare, "--from needs three operands: a program, and two of its versions")
        }
        request = VersionRequest(
            program: operands[0], before: operands[1], after: operands[2],
            machines: arguments.text(.machines).flatMap(LaunchHistory.Machines.init) ?? .alike)
        format = try Self.format(arguments)
        output = arguments.text(.output)
        showsTimings = arguments.isGiven(.timings)
        try Self.check(arguments)
    }

    private static func format(_ arguments: ParsedArguments) throws(UsageError) -> Format {
        guard let name = arguments.text(.format) else { return .text }
        guard let format = Format(rawValue: name) else {
            throw UsageError(
                .compare, "--format \(name) does not go with --from: it is for recordings")
        }
        return format
    }

    /// An option without effect is an error.
    private static func check(_ arguments: ParsedArguments) throws(UsageError) {
        let ofFiles: Set<OptionName> = [.with, .phase, .depth, .demangle, .anyway]
        guard let given = arguments.given(of: ofFiles).first else { return }
        throw UsageError(.compare, "--\(given) does not go with --from: it is for files")
    }
}
