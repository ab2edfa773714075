package import ProfileModel

/// Why no more launches are made.
package enum MeasuringEnd: Hashable, Sendable {
    /// The requested number of launches counts.
    case complete
    /// The user asked to stop.
    case interrupted
    /// Too many launches of an arm did not count, most of them for this reason.
    case gaveUp(arm: Int, reason: MeasuredLaunch.Discard, counted: Int)
    /// A launch was impossible, a command around it failed, or it could not be stored.
    case failed(MeasuringFailure)

    /// The value to store.
    package var ending: Measurement.Ending {
        switch self {
        case .complete: .complete
        case .interrupted: .interrupted
        case .gaveUp, .failed: .gaveUp
        }
    }
}
