package import ProfileModel

/// Why a recording tells nothing about the duration of launches.
package enum NoLaunch: Hashable, Sendable, CustomStringConvertible {
    case attached
    case cutShort
    /// The recording ended first.
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
    /// Why it has no launch; nil: it has one, maybe without its end.
    package var noLaunch: NoLaunch? {
        if header.isAttached { return .attached }
        // perf does not record this.
        guard header.outcome == .unknown, header.capture != .perf else { return nil }
        return .cutShort
    }

    /// True if the program still ran when the recording ended.
    package var isUnended: Bool { header.outcome == .running }
}
