package import ProfileModel

/// What to record, and how.
package struct SamplerOptions: Sendable {
    /// Ticks a second.
    package var frequency: Int32
    /// Recording ends after this time; nil: at the program's end.
    package var duration: TimeSpan?
    /// How running threads' stacks are taken after `main`.
    package var capture: CaptureMethod
    /// The most that is copied of a stack, in bytes.
    package var stackBytes: Int

    package init(
        frequency: Int32 = 1000, duration: TimeSpan? = nil, capture: CaptureMethod = .ptrace,
        stackBytes: Int = 1 << 20
    ) {
        self.frequency = frequency
        self.duration = duration
        self.capture = capture
        self.stackBytes = stackBytes
    }
}

/// What a recording session knows when it is over.
package struct SamplerOutcome: Sendable {
    package var outcome: Recording.Outcome
    package var ticks: Int64
    package var missedTicks: Int64
    package var lateness: TimeSpan
    package var heldByProfiler: TimeSpan
    /// How stacks were taken after `main`: what was asked for, unless it could not be had.
    package var capture: CaptureMethod
    /// The signal that ended the recording, if one did, and whether the program has had it, too.
    package var endSignal: (number: Int32, isFromTerminal: Bool)?
}
