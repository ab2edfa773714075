/// All processes with one name that a launch's first process and its children started.
package struct MeasuredProcesses: Hashable, Sendable {
    /// The kernel's name for the last program that each one executed (at most 15 bytes, without
    /// folders). If it executed none: the name of the process that it was forked from.
    package var name: String
    /// At least 1.
    package var count: Int
    /// How many of them were still running when the launch was over.
    package var running: Int
    /// From begin to end of each process, or to the launch's end, added up, even if they ran side
    /// by side.
    package var wall: TimeSpan
    /// CPU time of all together, in the launch; nil: unknown.
    package var cpu: TimeSpan?

    package init(
        name: String, count: Int, running: Int = 0, wall: TimeSpan, cpu: TimeSpan? = nil
    ) {
        self.name = name
        self.count = count
        self.running = running
        self.wall = wall
        self.cpu = cpu
    }
}
