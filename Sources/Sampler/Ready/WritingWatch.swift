import ProfileModel

/// Whether a process, or one that it started, has written anything lately: by the kernel's count of
/// bytes (`wchar` in proc_pid_io(5)), wherever they went.
///
/// What it wrote counts before the file's position has moved. So the count is not compared with that
/// of the last look, but with one that is older than anybody is kept from its core in between.
struct WritingWatch {
    private let pid: Int32
    private var older: Int64?
    private var newer: Int64?
    private var turn: MonotonicTime

    /// How old the count is, once or twice.
    static let age = TimeSpan.milliseconds(100)
    /// Of more processes it is not known what they write.
    private static let mostProcesses = 32

    init(_ pid: Int32, at now: MonotonicTime) {
        self.pid = pid
        (older, newer) = (Self.written(by: pid), nil)
        newer = older
        turn = now
    }

    mutating func look(at now: MonotonicTime) {
        guard now - turn >= Self.age else { return }
        turn = now
        (older, newer) = (newer, Self.written(by: pid))
    }

    /// Also where that cannot be told.
    var hasWritten: Bool {
        guard let older, let count = Self.written(by: pid) else { return true }
        return count != older
    }

    /// By the process, those of its children that it waited for, and all that descend from it; nil:
    /// not known.
    ///
    /// Children first: what a child wrote becomes its parent's when that has waited for it. In the
    /// other order neither would have it, if that happens in between; in this one both may.
    private static func written(by pid: Int32) -> Int64? {
        guard let processes = family(of: pid) else { return nil }
        var buffer = ReadBuffer()
        var sum: Int64 = 0
        for process in processes.reversed() {
            buffer.readAll(path: "/proc/\(process)/io")
            // A child may be gone by now.
            guard let count = ProcFormats.field("wchar:", buffer.text) else {
                if process == pid { return nil } else { continue }
            }
            sum &+= count
        }
        return sum
    }

    /// The process and all that descend from it, parents before their children; nil: not known.
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
