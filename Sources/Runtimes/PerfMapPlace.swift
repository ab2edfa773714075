/// Where a process writes the list of its generated code, as just-in-time compilers do that support
/// profilers: in `/tmp`, by its id. Both are as the process itself sees them, so in a container
/// they differ from ours.
package struct PerfMapPlace: Hashable, Sendable {
    /// The process's id in its own pid namespace.
    package var pid: Int32
    /// The process's root directory; empty: ours.
    package var root: String
    /// The users as whom the process has made files. Any user can put a file into `/tmp`, so other
    /// users' files are not trusted.
    package var owners: Set<UInt32>
    /// When the process began, in seconds since 1970. A file written before belongs to another
    /// process, because ids are reused, in containers above all. nil: not known.
    package var since: Int?

    package init(
        pid: Int32, root: String = "", owners: Set<UInt32> = [], since: Int? = nil
    ) {
        (self.pid, self.root, self.owners, self.since) = (pid, root, owners, since)
    }

    package var path: String { "\(root)/tmp/perf-\(pid).map" }
}
