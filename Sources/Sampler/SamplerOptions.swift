package import ProfileModel

/// What to record, and how.
package struct SamplerOptions: Sendable {
    /// Most stacks are a few KiB deep, but those of asynchronous Rust programs often 100: with 64
    /// KiB, one stack of cargo in seven could not be finished.
    package static let usualStackBytes = 1 << 18

    /// Ticks a second.
    package var frequency: Int32
    /// Recording ends after this time; nil: at the program's end.
    package var duration: TimeSpan?
    /// How running threads' stacks are taken, from the program's first instruction on. `signal`: by
    /// the kernel's events, and by signal once a thread does nothing but compute, or where events
    /// cannot be had. `ptrace`: by stops alone.
    package var capture: CaptureMethod
    /// Whether the processes that it starts are observed, too: by the kernel's events. They are
    /// traced where events cannot be had, or where that takes more than events tell: `capture` is
    /// ptrace, something is marked, `until` names a signpost, or the process was attached to.
    package var followsChildren: Bool
    /// The most that is copied of a stack, in bytes.
    package var stackBytes: Int
    /// Whether the kernel's scheduler is asked for every switch, as far as it tells.
    package var asksScheduler = true
    /// What ends the launch, whichever comes first; none: the program's end.
    package var until: [ReadyCondition] = []
    /// For how long recording goes on after that.
    package var extended = TimeSpan.zero
    /// A launch that is not over after this time has stalled; nil: there is no limit.
    package var watchdog: TimeSpan?
    /// What a launched program is started in; `tellsOpens` is not for recordings.
    package var child = ChildSetting()
    /// Called with the id of a launched process, which then waits to become the program.
    package var prepare: (@Sendable (Int32) -> Void)?
    /// What is noted though the program does not say it; nil: nothing.
    package var marks: (any MarkPlanner)?
    /// Called from the sampling thread as soon as it is known that something cannot be marked.
    package var tellMarkProblem: (@Sendable (MarkProblem) -> Void)?

    package init(
        frequency: Int32 = 1000, duration: TimeSpan? = nil, capture: CaptureMethod = .signal,
        stackBytes: Int = SamplerOptions.usualStackBytes, followsChildren: Bool = false
    ) {
        self.frequency = frequency
        self.duration = duration
        self.capture = capture
        self.stackBytes = stackBytes
        self.followsChildren = followsChildren
    }
}

extension SamplerOptions {
    /// From one stack of a thread to its next, in nanoseconds of its CPU time.
    var sampleInterval: Int64 { 1_000_000_000 / Int64(max(1, frequency)) }
}

/// What a recording session knows when it is over.
package struct SamplerOutcome: Sendable {
    package var outcome: Recording.Outcome
    package var ticks: Int64
    package var missedTicks: Int64
    package var lateness: TimeSpan
    package var heldByProfiler: TimeSpan
    /// How stacks were taken: what was asked for, unless it could not be had; `event` where events
    /// tell of the processes that it started, too.
    package var capture: CaptureMethod
    /// Stacks that the kernel had no room for: their time is kept.
    package var lostSamples: Int64 = 0
    /// CPU time that its threads' slices account for.
    package var cpu: TimeSpan
    /// How much the scheduler told.
    package var account: SchedulerAccount?
    /// What the recorder has to say of its own work.
    package var notes: [RecorderNote]
    /// Which marks could not be watched at all.
    package var markProblems: [MarkProblem] = []
    /// The signal that ended the recording, if one did, and whether the program has had it, too.
    package var endSignal: (number: Int32, isFromTerminal: Bool)?
    /// Whether somebody asked for the recording's end, and for nothing else (`firstlight stop`).
    package var wasAskedToFinish = false
    /// When the launch was over, if that was waited for and came.
    package var readiness: Readiness?
    /// What the process's threads were doing when the launch should have been over, but was not.
    package var stall: Stall?
    /// Through what the program's output goes.
    package var relays: [OutputRelay] = []
}
