package import ProfileModel

/// The options of `import`.
package struct ImportOptions: Hashable, Sendable {
    /// perf's file.
    package var input: String
    /// The path of the recording.
    package var output: String
    package var pid: Int32?
    package var engine: UnwindEngine
    package var isQuiet: Bool
    package var showsTimings: Bool

    package init(_ arguments: ParsedArguments) {
        input = arguments.operands.first ?? ""
        output = arguments.text(.output) ?? RecordOptions.defaultOutput
        pid = arguments.integer(.pid).flatMap { Int32(exactly: $0) }
        engine = arguments.text(.unwinder).flatMap(UnwindEngine.init) ?? .quick
        isQuiet = arguments.isGiven(.quiet)
        showsTimings = arguments.isGiven(.timings)
    }
}
