/// Where a process leaves the list of its generated code, as just-in-time compilers do that tell
/// profilers about it: in `/tmp`, by its id. Both are as the process itself sees them, so in a
/// container they are others than ours.
package struct PerfMapPlace: Hashable, Sendable {
    /// The process's id in its own pid namespace.
    package var pid: Int32
    /// The process's root directory; empty: ours.
    package var root: String
    /// The users as whom the process has made files. Anybody can put a file into `/tmp`, so other
    /// users' files are not believed.
    package var owners: Set<UInt32>
    /// When the process began, in seconds since 1970: what was written before is another one's, for ids come
    /// again, in containers above all. nil: not known.
    package var since: Int?

    package init(
        pid: Int32, root: String = "", owners: Set<UInt32> = [], since: Int? = nil
    ) {
        (self.pid, self.root, self.owners, self.since) = (pid, root, owners, since)
    }

    package var path: String { "\(root)/tmp/perf-\(pid).map" }
}
