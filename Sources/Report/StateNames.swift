import ProfileModel

extension ThreadState {
    /// As documentation and JSON call it.
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
