/// One launch as observed without stacks, before it is divided into phases. Times are those of
/// `CLOCK_MONOTONIC`, and include the time that measuring took.
package struct ObservedLaunch: Hashable, Sendable {
    /// The launch's borders and held times, as in recordings.
    package var borders: [LaunchBorder]
    /// The programs that the process ran: one for each `exec`. The last one's path may be empty.
    package var images: [Image]
    /// True if the last of them has a dynamic linker.
    package var isDynamic = false
    /// CPU time that the process had used since the launch's begin, by the times of its borders,
    /// without the cost of our code. At the last border it includes the children that the process
    /// waited for.
    package var cpu: [MonotonicTime: TimeSpan] = [:]
    /// nil: no condition was given, or none was met.
    package var ready: Readiness?
    /// True if the launch should have ended before the program.
    package var awaitsReady = false
    package var outcome = Recording.Outcome.unknown
    /// True if the launch was not over within the allowed time.
    package var isHung = false
    /// True if the user ended or stopped the measurement during the launch.
    package var isInterrupted = false
    /// How long the first thread waited for something other than a core; nil: unknown.
    package var mainBlocked: TimeSpan?
    /// Of the process and the children that it waited for; nil: unknown.
    package var counters = ProcessCounters()
    /// The processes that the first process and its children started; nil: unknown.
    package var processes: [MeasuredProcesses]?
    /// CPU time of everything else on the machine in the launch, and the time that the hypervisor
    /// gave to other machines, as in ``MeasuredLaunch``; nil: unknown.
    package var otherWork: TimeSpan?
    package var stolen: TimeSpan?
    /// The mean frequency of the cores at its end, in kHz; nil: unknown.
    package var frequency: Int64?

    package init(borders: [LaunchBorder] = [], images: [Image] = []) {
        self.borders = borders
        self.images = images
    }
}
