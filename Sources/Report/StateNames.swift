import ProfileModel

extension ThreadState {
    /// The name in documentation and JSON.
    var name: String {
        switch self {
        case .running: "running"
        case .runnable: "runnable"
        case .preempted: "preempted"
        case .blocked: "blocked"
        }
    }

    var style: Style {
        switch self {
        case .running: .running
        case .runnable: .runnable
        case .preempted: .preempted
        case .blocked: .blocked
        }
    }
}
