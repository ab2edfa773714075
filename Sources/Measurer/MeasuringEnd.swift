package import ProfileModel

/// Why no more launches are made.
package enum MeasuringEnd: Hashable, Sendable {
    /// As many as were asked for count.
    case complete
    /// The user asked for the end.
    case interrupted
    /// Too many launches of an arm were in vain, most of them for this reason.
    case gaveUp(arm: Int, reason: MeasuredLaunch.Discard, counted: Int)
    /// A launch could not be made, a command around it failed, or it could not be kept.
    case failed(MeasuringFailure)

    /// As it is stored.
    package var ending: Measurement.Ending {
        switch self {
        case .complete: .complete
        case .interrupted: .interrupted
        case .gaveUp, .failed: .gaveUp
        }
    }
}
