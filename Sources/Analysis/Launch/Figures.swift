package import ProfileModel

/// The figures of a thread during the launch.
package struct ThreadFigures: Hashable, Sendable {
    package var tid: Int32
    package var name: String
    /// True for the recorded process's first thread, which ``MainThread`` may pass over.
    package var isMain: Bool
    /// Since the launch's start, and within the launch.
    package var start: TimeSpan
    package var end: TimeSpan
    /// The thread's times in the whole launch.
    package var times: StateTimes
    /// In the order of time: the first priority, and every change; empty: not known.
    package var priorities: [PriorityFigures] = []
    /// The child that the thread belongs to; nil: the recorded process.
    package var child: ChildIndex?
}
