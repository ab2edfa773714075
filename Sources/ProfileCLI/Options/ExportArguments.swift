package import Analysis
package import Report

/// What `export` is asked for.
package struct ExportArguments: Sendable {
    package var file: String
    package var target: ExportTarget
    /// nil: standard output.
    package var output: String?
    package var phase: String?
    package var thread: String?
    package var process: String?
    package var interval: String?
    package var weight: Weight
    package var names: NameStyle

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        file = arguments.operands.first ?? RecordOptions.defaultOutput
        guard let target = arguments.text(.exportFormat).flatMap(ExportTarget.init) else {
            let names = ExportTarget.names.joined(separator: ", ")
            throw UsageError(.export, "--format is missing: one of \(names)")
        }
        self.target = target
        output = arguments.text(.output)
        phase = arguments.text(.phase)
        thread = arguments.text(.thread)
        process = arguments.text(.process)
        interval = arguments.text(.interval)
        weight = arguments.text(.weight).flatMap(Weight.init) ?? .cpu
        names = NameStyle(arguments)
        // An option without effect is an error, so that nobody takes the whole for a part.
        if target == .profile(.chrome), arguments.isGiven(.weight) {
            throw UsageError(.export, "--weight does not go with --format chrome: it has no stacks")
        }
        let given = arguments.given(of: [.phase, .thread, .process, .interval, .weight])
        if target == .tables, let name = given.first {
            throw UsageError(
                .export, "--\(name) does not go with --format sqlite: that has everything")
        }
    }
}
