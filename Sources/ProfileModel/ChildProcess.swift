/// A process that the recorded one, or a child of its, started while children were followed. It
/// has a recording of its own.
package struct ChildProcess: Hashable, Sendable {
    package var pid: Int32
    package var parent: Int32
    /// The last program that it ran; see ``Image/name``.
    package var name: String
    /// When it was forked, and when it ended (or the recording did).
    package var start: MonotonicTime
    package var end: MonotonicTime
    /// CPU time of all its threads.
    package var cpu: TimeSpan
    package var outcome: Recording.Outcome
    /// The name of its recording, a file in the same folder.
    package var file: String

    package init(
        pid: Int32, parent: Int32, name: String, start: MonotonicTime, end: MonotonicTime,
        cpu: TimeSpan, outcome: Recording.Outcome, file: String
    ) {
        self.pid = pid
        self.parent = parent
        self.name = name
        self.start = start
        self.end = end
        self.cpu = cpu
        self.outcome = outcome
        self.file = file
    }
}
