package import ProfileModel

extension ThreadState {
    /// The name in documentation and JSON.
    package var name: String {
        switch self {
        case .running: "running"
        case .runnable: "runnable"
        case .preempted: "preempted"
        case .blocked: "blocked"
        }
    }
}
