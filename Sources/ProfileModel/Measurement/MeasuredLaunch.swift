/// One launch of a measurement: figures without stacks.
package struct MeasuredLaunch: Hashable, Sendable {
    /// The index of its program in ``Measurement/arms``.
    package var arm: Int
    /// Its begin, in nanoseconds since the begin of the measurement.
    package var start: TimeSpan
    /// Why it does not count; nil: it counts.
    package var discarded: Discard?
    /// From the request for the program to the launch's end, without ``held``.
    package var wall: TimeSpan
    /// The part of the launch that the measuring itself took.
    package var held: TimeSpan
    /// CPU time in the launch, of all the process's own threads; nil: unknown.
    package var cpu: TimeSpan?
    /// How long the first thread waited for something other than a core; nil: unknown.
    package var mainBlocked: TimeSpan?
    /// Page faults; nil: unknown. Major ones waited for a disk.
    package var minorFaults: Int64?
    package var majorFaults: Int64?
    /// Bytes read from disks by the process and the children that it waited for; nil: unknown.
    package var readBytes: Int64?
    /// How many bytes of its files the page cache held when it began, and the size of these files;
    /// nil: not requested, or unknown.
    package var cachedBytes: Int64?
    package var fileBytes: Int64?
    /// CPU time of everything else on the machine during the launch (``held`` included); nil:
    /// unknown. For a launch shorter than 250 ms it is estimated from the 250 ms up to its end.
    package var otherWork: TimeSpan?
    /// CPU time that the hypervisor gave to other machines, with the same estimate; nil: unknown.
    package var stolen: TimeSpan?
    /// The mean frequency of the cores at its end, in kHz; nil: unknown.
    package var frequency: Int64?
    /// How the program ended. `running`: it was ready and ran on; the measuring command decides
    /// what happens to it then.
    package var outcome: Recording.Outcome
    /// The condition that ended the launch, in the words of `--until`; nil: the program's end.
    package var readyBy: String?
    /// In the order of time; their wall times add up to ``wall``.
    package var phases: [MeasuredPhase]
    /// The processes that the first process and its children started, each name once; nil: unknown.
    package var processes: [MeasuredProcesses]?
    /// What the program printed, if the launch failed (the last 4 KiB); empty: nothing.
    package var output: String

    package init(arm: Int, start: TimeSpan, wall: TimeSpan, outcome: Recording.Outcome) {
        self.arm = arm
        self.start = start
        self.wall = wall
        held = .zero
        self.outcome = outcome
        phases = []
        output = ""
    }

    /// Why a launch does not count. The raw values are stored, and shown in JSON.
    package enum Discard: String, Sendable, CaseIterable {
        /// The first launch of its arm: it does work that later launches find done.
        case first
        /// The launch should have been cold, but was not, as far as this can be proven.
        case warm
        /// The program could not be started, or a signal ended it.
        case failed
        /// It ended with another status than most launches.
        case otherStatus = "other_status"
        /// It was not ready within the allowed time (`--watchdog`).
        case hung
        /// The program ended before it was ready.
        case notReady = "not_ready"
        /// The measurement was ended in the middle of it.
        case interrupted
        /// Its stacks were taken during the launch (`watch --profile-every`), which takes time.
        case recorded
    }
}

/// One phase of one launch.
package struct MeasuredPhase: Hashable, Sendable {
    /// The name in reports: "Dynamic linking", "Wrapper: sh" …
    package var name: String
    package var wall: TimeSpan
    /// nil: unknown.
    package var cpu: TimeSpan?

    package init(name: String, wall: TimeSpan, cpu: TimeSpan? = nil) {
        self.name = name
        self.wall = wall
        self.cpu = cpu
    }
}
