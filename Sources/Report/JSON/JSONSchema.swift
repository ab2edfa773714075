/// The JSON of subcommands, which `docs/json.md` describes; the cases are named after the
/// subcommands.
package enum JSONSchema: String, Sendable, CaseIterable {
    case report, measure, compare, gate, history, top, doctor

    /// Raised when a reader of the previous version would misread the new one. New fields do not
    /// raise it.
    package var version: Int {
        switch self {
        case .report: 2
        case .measure, .compare, .gate, .history, .top, .doctor: 1
        }
    }
}
