package import ProfileModel

/// Makes one launch at a time.
package protocol LaunchMaker {
    /// Launches the arm's program, and returns when it and all its processes are gone. A launch
    /// that failed has its reason in ``MeasuredLaunch/discarded``.
    ///
    /// - Throws: no further launch is possible: the program does not exist, a condition is
    ///   unavailable, or a user's command before it has failed.
    mutating func make(_ request: LaunchRequest) throws(MeasuringFailure) -> MeasuredLaunch
}

/// Stores the launches as they come.
package protocol LaunchSink {
    mutating func append(_ launch: MeasuredLaunch) throws(MeasuringFailure)
    /// Reports that a stored launch does not count after all.
    mutating func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(MeasuringFailure)
    /// Reports that more launches of each arm should count than first requested.
    mutating func extend(to requested: Int)
    /// Reports that there are no more launches. Not called after a failure of this sink.
    mutating func finish(_ ending: Measurement.Ending) throws(MeasuringFailure)
}

/// Callbacks between launches.
package struct MeasuringHooks {
    /// True if the user has asked to stop.
    package var isInterrupted: () -> Bool = { false }
    /// Called for each launch.
    package var tell: (MeasuringProgress) -> Void = { _ in }
    /// Called when the requested number of launches counts, with all launches so far. Returns how
    /// many of each arm should count instead. nil, or no more than before: these are enough.
    package var extend: ([MeasuredLaunch]) -> Int? = { _ in nil }

    package init() {}
}

/// The progress of a measurement.
package struct MeasuringProgress: Hashable, Sendable {
    /// The launch that was just made.
    package var launch: MeasuredLaunch
    /// Its index among all launches.
    package var index: Int
    /// How many launches count, or pairs of launches.
    package var counted: Int
    package var requested: Int

    package init(launch: MeasuredLaunch, index: Int, counted: Int, requested: Int) {
        self.launch = launch
        self.index = index
        self.counted = counted
        self.requested = requested
    }
}
