import Glibc

/// The ids by which a process in a container knows itself, which differ from ours.
package struct InnerIDs: Hashable, Sendable {
    /// The process's id in its own pid namespace.
    package var pid: Int32
    /// The user as whom it makes files, by our id of this user.
    package var user: UInt32

    /// nil: the process is gone.
    package init?(of pid: Int32) {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/status")
        self.init(status: buffer.text)
    }

    package init?(status: ProcText) {
        // Real, effective, saved, and the one for files.
        guard let pid = ProcFormats.ids(inStatus: status).last,
            let user = ProcFormats.numbers("Uid:", status).last.flatMap({ UInt32(exactly: $0) })
        else { return nil }
        (self.pid, self.user) = (pid, user)
    }
}

/// The ids by which a process knows its threads and children: those of its own pid namespace.
package struct InnerNames {
    private let pid: Int32
    /// The position of that namespace's ids among all ids of a process; nil: they are our ids.
    private let level: Int?
    /// Its threads, by these ids; empty if they are ours.
    private let threads: [Int32: Int32]

    /// In a process with more threads, no thread is found.
    private static let mostThreads = 1024

    package init(pid: Int32) {
        self.pid = pid
        let files = ProcessFiles(pid: pid)
        level = files.sharesNamespaceWithUs ? nil : max(0, Self.ids(of: pid).count - 1)
        let all = level == nil ? [] : files.threadIDs()
        threads = all.count > Self.mostThreads ? [:] : Self.ours(all, at: level)
    }

    /// The process's own id; nil: not known.
    package var own: Int32? { level == nil ? pid : threads.first { $0.value == pid }?.key }

    /// - Returns: the thread's id for us; nil: the process has no such thread.
    package func thread(_ inner: Int32) -> Int32? {
        guard inner > 0 else { return nil }
        if level != nil { return threads[inner] }
        return access("/proc/\(pid)/task/\(inner)", F_OK) == 0 ? inner : nil
    }

    /// - Returns: the child's id for us; nil: the process has no such child.
    package func child(_ inner: Int32) -> Int32? {
        guard let level else { return inner }
        return Self.ours(ProcessFiles(pid: pid).children ?? [], at: level)[inner]
    }

    private static func ours(_ ids: [Int32], at level: Int?) -> [Int32: Int32] {
        var result: [Int32: Int32] = [:]
        for id in ids {
            let all = Self.ids(of: id)
            if let level, all.indices.contains(level) { result[all[level]] = id }
        }
        return result
    }

    private static func ids(of id: Int32) -> [Int32] {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(id)/status")
        return ProcFormats.ids(inStatus: buffer.text)
    }
}
