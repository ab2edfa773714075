package import Exports
internal import Report

/// The options of `view`.
package struct ViewOptions: Sendable {
    package var file: String
    package var names: NameStyle
    package var process: String?
    /// The folder below which source is read.
    package var sourceRoot: String

    package init(_ arguments: ParsedArguments) {
        file = arguments.operands.first ?? RecordOptions.defaultOutput
        names = NameStyle(arguments)
        process = arguments.text(.process)
        sourceRoot = arguments.text(.sourceRoot) ?? "."
    }
}
