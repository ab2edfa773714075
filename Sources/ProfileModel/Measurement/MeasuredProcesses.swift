/// All processes of one name that a launch's first process and its children started.
package struct MeasuredProcesses: Hashable, Sendable {
    /// As the last program that each executed is called, by the kernel (at most 15 bytes, without
    /// folders); of one that executed none, as the process that it was forked from.
    package var name: String
    /// At least 1.
    package var count: Int
    /// How many of them went on when the launch was over.
    package var running: Int
    /// From its begin to its end, or to the launch's; of all together, also where they ran side by
    /// side.
    package var wall: TimeSpan
    /// Of all together, in the launch; nil: not known.
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
