import ProfileModel

extension Recording.Outcome {
    /// The values of the columns `outcome` and `outcome_value`; both NULL if the outcome is
    /// unknown.
    var stored: (name: String?, value: Int64?) {
        switch self {
        case .exited(let status): ("exited", Int64(status))
        case .signalled(let signal): ("signalled", Int64(signal))
        case .running: ("running", nil)
        case .unknown: (nil, nil)
        }
    }

    /// nil for a pair that ``stored`` never gives.
    init?(storedName name: String?, value: Int64?) {
        switch (name, value.map { Int32(exactly: $0) }) {
        case ("exited", .some(.some(let status))): self = .exited(status)
        case ("signalled", .some(.some(let signal))): self = .signalled(signal)
        case ("running", .none): self = .running
        case (.none, .none): self = .unknown
        default: return nil
        }
    }
}
