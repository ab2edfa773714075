package enum CheckFormat: String, CaseIterable, Sendable {
    case text, json
}

/// The options of `doctor`.
package struct DoctorOptions: Sendable {
    package var format: CheckFormat

    package init(_ arguments: ParsedArguments) {
        format = arguments.text(.format).flatMap(CheckFormat.init) ?? .text
    }
}
