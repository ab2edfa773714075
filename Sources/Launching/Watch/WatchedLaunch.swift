package import ProfileModel

/// One launch seen from outside, from its process's fork to its end.
package struct WatchedLaunch: Hashable, Sendable {
    package var pid: Int32
    package var begun: MonotonicTime
    package var ended: MonotonicTime
    /// The program that the launch counts for: the last program that the process executed, or the
    /// last of those to be watched.
    package var program: WatchedProgram
    /// The executable's version, as the watcher reports it; nil: unknown.
    package var version: String?
    /// All programs that the process executed.
    package var images: [Image]
    package var outcome: Recording.Outcome
    /// CPU time of the process's own threads; nil: unknown.
    package var cpu: TimeSpan?
    /// Counters of the process and of the processes that it started and that ended before it; nil:
    /// unknown.
    package var counters: ProcessCounters

    /// The launch in the form of a measured one. From outside we do not see when libraries were
    /// loaded and when `main` began: the time after the exec is not divided.
    package var observed: ObservedLaunch {
        var borders = [LaunchBorder(kind: .spawned, time: begun)]
        for image in images {
            borders.append(LaunchBorder(kind: .firstInstruction, time: image.time))
        }
        borders.append(LaunchBorder(kind: .ended, time: ended))
        var launch = ObservedLaunch(borders: borders, images: images)
        launch.cpu[begun] = .zero
        launch.cpu[ended] = cpu
        launch.counters = counters
        launch.outcome = outcome
        return launch
    }
}

/// Counts launches that should have been watched but could not be.
package struct WatchTally: Hashable, Sendable {
    /// Events that the kernel had no room for.
    package var lostEvents: Int64 = 0
    /// Watched programs that were executed by a process that ran before us, or whose end was lost.
    package var partial = 0
    /// Executed programs whose names could not be found out in time.
    package var unnamed = 0

    package init() {}
}
