import ProcessIO
package import ProfileModel

/// Tells whether a process, or a process that it started, has written anything lately, to any file.
/// It uses the kernel's count of bytes (`wchar` in proc_pid_io(5)).
///
/// The count grows before the file's position moves. A comparison with the last look could miss a
/// write in between. So we compare with an older count: its age exceeds the time for which a thread
/// is kept off its core.
package struct WritingWatch {
    private let pid: Int32
    private var older: Int64?
    private var newer: Int64?
    private var turn: MonotonicTime

    /// The age of the older count: at least this, at most twice this.
    package static let age = TimeSpan.milliseconds(100)
    /// With more processes, the count is unknown.
    private static let mostProcesses = 32

    package init(_ pid: Int32, at now: MonotonicTime) {
        self.pid = pid
        (older, newer) = (Self.written(by: pid), nil)
        newer = older
        turn = now
    }

    package mutating func look(at now: MonotonicTime) {
        guard now - turn >= Self.age else { return }
        turn = now
        (older, newer) = (newer, Self.written(by: pid))
    }

    /// True also if the counts cannot be read.
    package var hasWritten: Bool {
        guard let older, let count = Self.written(by: pid) else { return true }
        return count != older
    }

    /// Bytes written by the process, the children that it waited for, and all its descendants; nil:
    /// unknown.
    ///
    /// Children are read first. When a parent has waited for a child, the child's bytes are added
    /// to the parent's count. If this happens while we read, reading children first may count the
    /// bytes twice, but the other order would miss them.
    private static func written(by pid: Int32) -> Int64? {
        guard let processes = family(of: pid) else { return nil }
        var buffer = ReadBuffer()
        var sum: Int64 = 0
        for process in processes.reversed() {
            buffer.readAll(path: "/proc/\(process)/io")
            // The child may be gone.
            guard let count = ProcFormats.field("wchar:", buffer.text) else {
                if process == pid { return nil } else { continue }
            }
            sum &+= count
        }
        return sum
    }

    /// The process and all its descendants, parents before their children; nil: unknown.
    private static func family(of pid: Int32) -> [Int32]? {
        var processes = [pid]
        var next = 0
        while next < processes.count {
            guard processes.count <= mostProcesses,
                let children = ProcessFiles(pid: processes[next]).children
            else { return nil }
            processes += children
            next += 1
        }
        return processes
    }
}
