package import ProfileModel

/// What a tree or a list measures its functions by.
package enum Weight: String, Sendable, CaseIterable {
    /// Time on a core.
    case cpu
    /// Elapsed time of every thread, whatever its state.
    case wall
    /// Waiting for something other than a core.
    case blocked
    /// Waiting for a core: runnable and preempted alike.
    case runnable

    package func of(_ times: StateTimes) -> TimeSpan {
        switch self {
        case .cpu: times.running
        case .wall: times.wall
        case .blocked: times.blocked
        case .runnable: times.runnable + times.preempted
        }
    }

    /// Whether trees end in a frame that names what was waited for.
    package var showsWaits: Bool { self == .wall || self == .blocked }
}
