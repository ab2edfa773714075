package import ProfileModel

/// What a thread did during the launch.
package struct ThreadFigures: Hashable, Sendable {
    package var tid: Int32
    package var name: String
    /// True for the recorded process's first thread, which ``MainThread`` may pass over.
    package var isMain: Bool
    /// Since the launch's start, and within the launch.
    package var start: TimeSpan
    package var end: TimeSpan
    /// Of the whole launch.
    package var times: StateTimes
    /// In the order of time: what it was at first, and every change; empty: not known.
    package var priorities: [PriorityFigures] = []
    /// Of which child; nil: of the recorded process.
    package var child: ChildIndex?
}
