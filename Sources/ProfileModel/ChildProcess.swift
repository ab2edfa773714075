/// A process that the recorded one, or one of its children, started while children were followed.
/// Its threads are among the recording's.
package struct ChildProcess: Hashable, Sendable {
    package var pid: Int32
    /// The id of the process that started it. Ids are reused, so ``parentIndex`` tells which of the
    /// processes with that id.
    package var parent: Int32
    /// nil: the recorded process itself, or a process outside the recording.
    package var parentIndex: ChildIndex?
    /// The last program that it ran; see ``Image/name``.
    package var name: String
    /// When it was forked.
    package var start: MonotonicTime
    /// When it ended, or when the recording ended; nil: the recording was cut short.
    package var end: MonotonicTime?
    /// CPU time of all its threads; nil: unknown.
    package var cpu: TimeSpan?
    package var outcome: Recording.Outcome
    /// How its stacks were captured; nil: unknown.
    package var capture: CaptureMethod?
    /// Like ``Recording/images``: the first is its parent's program.
    package var images: [Image] = []
    /// Like ``Recording/borders``.
    package var borders: [LaunchBorder] = []

    package init(
        pid: Int32, parent: Int32, parentIndex: ChildIndex? = nil, name: String,
        start: MonotonicTime, end: MonotonicTime? = nil, cpu: TimeSpan? = nil,
        outcome: Recording.Outcome = .unknown, capture: CaptureMethod? = nil
    ) {
        self.pid = pid
        self.parent = parent
        self.parentIndex = parentIndex
        self.name = name
        self.start = start
        self.end = end
        self.cpu = cpu
        self.outcome = outcome
        self.capture = capture
    }
}

/// Position in a recording's list of children. An optional value is nil for the recorded process
/// itself.
package struct ChildIndex: Hashable, Sendable, Comparable {
    package var rawValue: Int
    package init(_ rawValue: Int) { self.rawValue = rawValue }
    package static func < (left: ChildIndex, right: ChildIndex) -> Bool {
        left.rawValue < right.rawValue
    }
}
