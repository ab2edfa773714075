package import ProfileModel

/// The measure by which a tree or a list weighs its functions.
package enum Weight: String, Sendable, CaseIterable {
    /// Time on a core.
    case cpu
    /// Elapsed time of every thread, whatever its state.
    case wall
    /// Time waiting for something other than a core.
    case blocked
    /// Time waiting for a core: runnable and preempted alike.
    case runnable

    package func of(_ times: StateTimes) -> TimeSpan {
        switch self {
        case .cpu: times.running
        case .wall: times.wall
        case .blocked: times.blocked
        case .runnable: times.runnable + times.preempted
        }
    }

    /// Whether trees end in a frame that names the reason of a wait.
    package var showsWaits: Bool { self == .wall || self == .blocked }
}
