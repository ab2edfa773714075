package import ProfileModel

/// One launch as it was seen from outside, from its process's fork to its end.
package struct WatchedLaunch: Hashable, Sendable {
    package var pid: Int32
    package var begun: MonotonicTime
    package var ended: MonotonicTime
    /// Whose launch it is: the last of those that the process executed, or of those that were to be
    /// watched.
    package var program: WatchedProgram
    /// The executable's version, as whoever watches has told it; nil: not known.
    package var version: String?
    /// All programs that the process executed.
    package var images: [Image]
    package var outcome: Recording.Outcome
    /// Of the process's own threads; nil: not known.
    package var cpu: TimeSpan?
    /// Of the process, and of those that it started and that ended before it; nil: not known.
    package var counters: ProcessCounters

    /// As measured launches are. Where libraries were loaded and `main` began is not seen from outside:
    /// all after the exec is *Main*.
    package var observed: ObservedLaunch {
        var marks = [Mark(kind: .spawned, time: begun)]
        for image in images {
            marks.append(Mark(kind: .firstInstruction, time: image.time))
            marks.append(Mark(kind: .main, time: image.time))
        }
        marks.append(Mark(kind: .ended, time: ended))
        var launch = ObservedLaunch(marks: marks, images: images)
        launch.cpu[begun] = .zero
        launch.cpu[ended] = cpu
        launch.counters = counters
        launch.outcome = outcome
        return launch
    }
}

/// What became of launches that were to be watched, and could not be.
package struct WatchTally: Hashable, Sendable {
    /// The kernel had no room for so many events.
    package var lostEvents: Int64 = 0
    /// A watched program was executed by a process that ran before, or its end was among what was lost.
    package var partial = 0
    /// A program was executed of which nothing could be found out in time.
    package var unnamed = 0

    package init() {}
}
