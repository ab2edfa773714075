/// One launch as it was seen without stacks, before it is divided into phases. Times are those of
/// `CLOCK_MONOTONIC`; nothing that measuring took is subtracted from them yet.
package struct ObservedLaunch: Hashable, Sendable {
    /// The launch's borders and what was held, as recordings have them.
    package var marks: [Mark]
    /// The programs that the process ran: one for each `exec`. The last one's path may be empty.
    package var images: [Image]
    /// Whether the last of them has a dynamic linker.
    package var isDynamic = false
    /// CPU time that the process had used since the launch's begin, by the times of its marks; of the
    /// last mark with that of its children that it waited for. Without what our code in it took.
    package var cpu: [MonotonicTime: TimeSpan] = [:]
    /// nil: it was not waited for, or did not come.
    package var ready: Readiness?
    /// Whether the launch was to end with something else than the program.
    package var awaitsReady = false
    package var outcome = Recording.Outcome.unknown
    /// It was not over in the time allowed.
    package var isHung = false
    /// Somebody ended the measurement, or stopped it, in the middle of it.
    package var isInterrupted = false
    /// How long the first thread waited for something else than a core; nil: not known.
    package var mainBlocked: TimeSpan?
    /// Of the process and the children that it waited for; nil: not known.
    package var counters = ProcessCounters()
    /// Those that the first process and its children started; nil: not known.
    package var processes: [MeasuredProcesses]?
    /// CPU time of everything else on the machine meanwhile, and what the hypervisor gave to others,
    /// as ``MeasuredLaunch`` has them; nil: not known.
    package var otherWork: TimeSpan?
    package var stolen: TimeSpan?
    /// The mean of the cores' frequencies at its end, in kHz; nil: not known.
    package var frequency: Int64?

    package init(marks: [Mark] = [], images: [Image] = []) {
        self.marks = marks
        self.images = images
    }
}
