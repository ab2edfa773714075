/// The JSON that subcommands write, which `docs/json.md` describes; named by the subcommands.
package enum JSONSchema: String, Sendable, CaseIterable {
    case report, measure, compare, gate, history, top, doctor

    /// Raised when a reader of the version before would misread the new one. Fields are added without.
    package var version: Int {
        switch self {
        case .report: 2
        case .measure, .compare, .gate, .history, .top, .doctor: 1
        }
    }
}
