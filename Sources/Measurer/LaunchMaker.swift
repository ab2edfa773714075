package import ProfileModel

/// Makes one launch at a time.
package protocol LaunchMaker {
    /// Launches the arm's program and returns when it, and all that it left behind, are gone. A
    /// launch that went wrong comes back with its reason in ``MeasuredLaunch/discarded``.
    ///
    /// - Throws: no further launch can be made: there is no such program, a condition is not to
    ///   be had, a command of the user's that runs before it has failed.
    mutating func make(_ request: LaunchRequest) throws(MeasuringFailure) -> MeasuredLaunch
}

/// Keeps the launches as they come.
package protocol LaunchSink {
    mutating func append(_ launch: MeasuredLaunch) throws(MeasuringFailure)
    /// A launch that was appended does not count after all.
    mutating func discard(
        _ index: Int, as reason: MeasuredLaunch.Discard
    ) throws(MeasuringFailure)
    /// More launches of each arm are to count than were asked for at first.
    mutating func extend(to requested: Int)
    /// There are no more. Not called after anything has failed here.
    mutating func finish(_ ending: Measurement.Ending) throws(MeasuringFailure)
}

/// Who is asked and told between launches.
package struct MeasuringHooks {
    /// Whether the user has asked for the end.
    package var isInterrupted: () -> Bool = { false }
    /// Told of each launch that was made.
    package var tell: (MeasuringProgress) -> Void = { _ in }
    /// Asked when as many launches count as were asked for, with all that were made: how many of each
    /// arm are to count instead. nil, or no more than before: these are enough.
    package var extend: ([MeasuredLaunch]) -> Int? = { _ in nil }

    package init() {}
}

/// How far a measurement is.
package struct MeasuringProgress: Hashable, Sendable {
    /// The launch that was just made.
    package var launch: MeasuredLaunch
    /// Its place among all that were made.
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
