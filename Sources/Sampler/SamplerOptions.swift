package import Agent
package import ProfileModel
package import Readiness

/// What to record, and how.
package struct SamplerOptions: Sendable {
    /// Most stacks are a few KiB deep, but stacks of asynchronous Rust programs often have 100 KiB.
    /// With a limit of 64 KiB, one stack of cargo in seven could not be unwound to its end.
    package static let usualStackBytes = 1 << 18

    /// Ticks per second.
    package var frequency: Int32
    /// Recording ends after this time; nil: when the program ends.
    package var duration: TimeSpan?
    /// How running threads' stacks are taken, from the program's first instruction on. `signal`: by
    /// the kernel's events; by signal once a thread does nothing but compute, or where events are
    /// not available. `ptrace`: by stops alone.
    package var capture: CaptureMethod
    /// True if the processes that the program starts are observed, too, by the kernel's events.
    /// They are traced instead where events are not available or tell too little: when `capture` is
    /// ptrace, something is marked, `until` names a signpost, or the process was attached to.
    package var followsChildren: Bool
    /// How many bytes of a stack are copied at most.
    package var stackBytes: Int
    /// True if the kernel's scheduler is asked for every switch, where it reports them.
    package var asksScheduler = true
    /// What ends the launch, whichever comes first; empty: the program's end.
    package var until: [ReadyCondition] = []
    /// How long recording goes on after that.
    package var extended = TimeSpan.zero
    /// A launch that is not over after this time has stalled; nil: there is no limit.
    package var watchdog: TimeSpan?
    /// The settings with which a launched program starts; `tellsOpens` is not for recordings.
    package var child = ChildSetting()
    /// Called with the id of a launched process, which then waits to become the program.
    package var prepare: (@Sendable (Int32) -> Void)?
    /// What to note although the program does not report it; nil: nothing.
    package var marks: (any MarkPlanner)?
    /// Called from the sampling thread as soon as a mark turns out to be impossible.
    package var tellMarkProblem: (@Sendable (MarkProblem) -> Void)?

    package init(
        frequency: Int32 = 1000, duration: TimeSpan? = nil, capture: CaptureMethod = .untraced,
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
    /// From one stack of a thread to the next, in nanoseconds of the thread's CPU time.
    var sampleInterval: Int64 { 1_000_000_000 / Int64(max(1, frequency)) }
}

/// The results of a recording session.
package struct SamplerOutcome: Sendable {
    package var outcome: Recording.Outcome
    package var ticks: Int64
    package var missedTicks: Int64
    /// Those of all processes.
    package var samples: SampleTally
    package var lateness: TimeSpan
    package var heldByProfiler: TimeSpan
    /// How stacks were taken: as asked for, unless that was not available; `event` where the
    /// kernel's events report on the processes that the program started, too.
    package var capture: CaptureMethod
    /// Stacks that the kernel had no room for: their time is kept.
    package var lostSamples: Int64 = 0
    /// CPU time that the slices of the process's threads account for.
    package var cpu: TimeSpan
    /// How much the scheduler reported.
    package var account: SchedulerAccount?
    /// The recorder's notes on its own work.
    package var notes: [RecorderNote]
    /// Which marks could not be watched at all.
    package var markProblems: [MarkProblem] = []
    /// The signal that ended the recording, if one did, and whether the program received it, too.
    package var endSignal: (number: Int32, isFromTerminal: Bool)?
    /// True if the recording ended only because the user asked for it (`firstlight stop`).
    package var wasAskedToFinish = false
    /// When the launch was over, if a condition for this was given and met.
    package var readiness: Readiness?
    /// What the process's threads were doing when the launch should have been over but was not.
    package var stall: Stall?
    /// The relays that the program's output goes through.
    package var relays: [OutputRelay] = []
}
