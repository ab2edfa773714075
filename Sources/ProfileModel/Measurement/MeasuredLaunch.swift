/// One launch of a measurement: figures, and no stacks.
package struct MeasuredLaunch: Hashable, Sendable {
    /// Which of ``Measurement/arms``.
    package var arm: Int
    /// Its begin, in nanoseconds since the measurement's.
    package var start: TimeSpan
    /// nil: it counts.
    package var discarded: Discard?
    /// From the moment the program was asked for to the launch's end, less ``held``.
    package var wall: TimeSpan
    /// What measuring itself took of the launch.
    package var held: TimeSpan
    /// Of all the process's threads, and of its children that it waited for, in the launch; nil:
    /// not known.
    package var cpu: TimeSpan?
    /// How long the first thread waited for something else than a core; nil: not known.
    package var mainBlocked: TimeSpan?
    /// Page faults; nil: not known. Major ones waited for a disk.
    package var minorFaults: Int64?
    package var majorFaults: Int64?
    /// Bytes read from disks, by the process and its children that it waited for; nil: not known.
    package var readBytes: Int64?
    /// How many bytes of its files the page cache held when it began, and how many the files have;
    /// nil: nobody asked, or it is not known.
    package var cachedBytes: Int64?
    package var fileBytes: Int64?
    /// CPU time of everything else on the machine meanwhile (``held`` included); nil: not known. Of a
    /// launch below 250 ms it is reckoned from what was true of the 250 ms up to its end.
    package var otherWork: TimeSpan?
    /// CPU time that the hypervisor gave to others, in the same way; nil: not known.
    package var stolen: TimeSpan?
    /// The mean frequency of the cores at its end, in kHz; nil: not known.
    package var frequency: Int64?
    /// How the program ended. `running`: it was ready, and what became of it says ``Measurement``'s
    /// command.
    package var outcome: Recording.Outcome
    /// What ended the launch, in the words of `--until`; nil: the program's end.
    package var readyBy: String?
    /// In the order of time; their wall times add up to ``wall``.
    package var phases: [MeasuredPhase]
    /// Those that the first process and its children started, no name twice; nil: not known.
    package var processes: [MeasuredProcesses]?
    /// What the program printed, where the launch failed (the last 4 KiB); empty: nothing.
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
        /// The first of its arm: it finds what no other does.
        case first
        /// It should have been cold, and was not, as far as that can be proven.
        case warm
        /// The program could not be started, or a signal ended it.
        case failed
        /// It ended with another status than most.
        case otherStatus = "other_status"
        /// It was not ready in the time allowed (`--watchdog`).
        case hung
        /// The program ended before it was ready.
        case notReady = "not_ready"
        /// The measurement was ended in the middle of it.
        case interrupted
        /// Somebody took its stacks meanwhile (`watch --profile-every`), which takes time.
        case recorded
    }
}

/// One phase of one launch.
package struct MeasuredPhase: Hashable, Sendable {
    /// As reports name it: "Dynamic linking", "Wrapper: sh" …
    package var name: String
    package var wall: TimeSpan
    /// nil: not known.
    package var cpu: TimeSpan?

    package init(name: String, wall: TimeSpan, cpu: TimeSpan? = nil) {
        self.name = name
        self.wall = wall
        self.cpu = cpu
    }
}
