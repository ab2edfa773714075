package import ProfileModel

/// The reason why a recording says nothing about the duration of launches.
package enum NoLaunch: Hashable, Sendable, CustomStringConvertible {
    case attached
    case cutShort
    /// The recording ended before the launch.
    case notOver

    package var description: String {
        switch self {
        case .attached: "was attached to a running program, and has no launch"
        case .cutShort: "was cut short (its recorder was killed), and has no complete launch"
        case .notOver: "ended before the launch was over"
        }
    }
}

extension Recording {
    /// Why it has no launch; nil: it has one, perhaps without its end.
    package var noLaunch: NoLaunch? {
        if header.isAttached { return .attached }
        // perf does not record the outcome.
        guard header.outcome == .unknown, header.capture != .perf else { return nil }
        return .cutShort
    }

    /// True if the program was still running when the recording ended.
    package var isUnended: Bool { header.outcome == .running }
}
