/// What `doctor` is asked for.
package struct DoctorOptions: Sendable {
    package var format: ReportFormat

    package init(_ arguments: ParsedArguments) {
        format = arguments.text(.format).flatMap(ReportFormat.init) ?? .text
    }
}
