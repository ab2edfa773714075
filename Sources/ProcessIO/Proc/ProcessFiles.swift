import CSystem
import Glibc
package import ProfileModel

/// `/proc`'s files about a process as a whole, read on demand.
package struct ProcessFiles: Sendable {
    package let pid: Int32

    package init(pid: Int32) {
        self.pid = pid
    }

    /// The totals at a phase's border; nil: they cannot be read.
    package func counters() -> ProcessCounters {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/stat")
        let stat = ProcessStat(buffer.text)
        buffer.readAll(path: "/proc/\(pid)/io")
        return ProcessCounters(
            minorFaults: stat?.minorFaults, majorFaults: stat?.majorFaults,
            readBytes: ProcFormats.field("read_bytes:", buffer.text))
    }

    package func stat() -> ProcessStat? {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/stat")
        return ProcessStat(buffer.text)
    }

    /// How a zombie ended; nil: the process has not ended, or we may not read its status.
    package var endOfZombie: Recording.Outcome? {
        var status = Glibc.stat()
        // For other users' processes, the kernel always says that they returned 0.
        guard lstat("/proc/\(pid)", &status) == 0, status.st_uid == geteuid() || geteuid() == 0
        else { return nil }
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/stat")
        return ProcFormats.endStatus(inStat: buffer.text).flatMap {
            TraceEvent(status: $0)?.outcome
        }
    }

    /// A line of `status`, e.g. `Uid:`.
    package func status(_ name: StaticString) -> Int64? {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/status")
        return ProcFormats.field(name, buffer.text)
    }

    /// The program that runs now, and its arguments.
    package func image(at time: MonotonicTime) -> Image {
        let executable = ProgramPath.target(ofLink: "/proc/\(pid)/exe")
        var buffer = ReadBuffer()
        buffer.readArguments(of: pid)
        let arguments = buffer.contents.split(separator: 0, omittingEmptySubsequences: false)
            .dropLast().map { String(decoding: $0, as: UTF8.self) }
        let path = ProgramPath.started(
            pid: pid, executable: executable, firstArgument: arguments.first ?? "")
        return Image(path: path, arguments: Array(arguments), time: time)
    }

    /// True if the process's ids are the same for us.
    package var sharesNamespaceWithUs: Bool {
        let own = Self.namespace("pid", of: "self")
        return !own.isEmpty && own == Self.namespace("pid", of: "\(pid)")
    }

    /// True if the process's clocks are known to differ from ours (a time namespace).
    package var hasOtherClocks: Bool {
        let (own, other) = (
            Self.namespace("time", of: "self"), Self.namespace("time", of: "\(pid)")
        )
        return !own.isEmpty && !other.isEmpty && own != other
    }

    private static func namespace(_ kind: String, of process: String) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/\(process)/ns/\(kind)", &target, target.count)
        return Array(target.prefix(max(0, length)))
    }

    /// True if the program's file gives privileges that the process would have without us: we
    /// cannot read a process that has them.
    package var lacksPrivileges: Bool {
        let path = "/proc/\(pid)/exe"
        var system = statvfs()
        return FilePrivileges.areGained(by: path) && status("NoNewPrivs:") != 1
            && statvfs(path, &system) == 0 && system.f_flag & UInt(ST_NOSUID) == 0
    }

    /// CPU time of all threads, ended ones included; nil: the process is gone.
    package var cpuTime: TimeSpan? {
        let time = fl_process_cpu_ns(pid)
        return time < 0 ? nil : TimeSpan(nanoseconds: time)
    }

    /// CPU time of the children that it has waited for, and of their children; nil: it is gone.
    package var childrenCPU: TimeSpan? {
        let ticksPerSecond = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return stat().map {
            TimeSpan(nanoseconds: $0.childrenTicks &* (1_000_000_000 / ticksPerSecond))
        }
    }

    /// Whether another process has the same memory.
    package var sharesMemory: Bool {
        // The kernel says of two processes without memory that they share it, so ask with a thread
        // that has memory.
        let holder = FirstThread.orHolder(of: pid) ?? pid
        return Self.numbers(in: "/proc").contains { other in
            guard other != pid else { return false }
            return Self.mayShareMemory(fl_shares_memory(holder, other)) {
                Ancestry.parent(of: other) == pid
            }
        }
    }

    /// Without an answer (the kernel cannot compare, or a container's filter forbids it), assume
    /// that a child may share memory.
    ///
    /// - Parameter answer: 1, 0, or a negative error number.
    package static func mayShareMemory(_ answer: Int32, isChild: () -> Bool) -> Bool {
        answer == 1 || (answer < 0 && answer != -ESRCH && isChild())
    }

    package func threadIDs() -> [Int32] { Self.numbers(in: "/proc/\(pid)/task").filter { $0 > 0 } }

    /// In a process with more threads, we do not ask for its children.
    private static let mostThreads = 64

    /// The processes that it started and that are still its children; nil: unknown.
    package var children: [Int32]? {
        let tids = threadIDs()
        guard !tids.isEmpty, tids.count <= Self.mostThreads else { return nil }
        var result: [Int32] = []
        for tid in tids {
            guard let file = ProcFile("/proc/\(pid)/task/\(tid)/children") else { return nil }
            var buffer = ReadBuffer()
            file.read(into: &buffer)
            var text = buffer.text
            while let child = text.decimal().flatMap({ Int32(exactly: $0) }) {
                result.append(child)
            }
        }
        return result
    }

    /// True if a thread other than the first is alive.
    package var hasLivingThreads: Bool {
        threadIDs().contains { $0 != pid && ProcessFiles(pid: $0).stat()?.isZombie == false }
    }

    package static func hasMemory(_ tid: Int32) -> Bool {
        var buffer = ReadBuffer(capacity: 128)
        buffer.read(path: "/proc/\(tid)/statm")
        var text = buffer.text
        return (text.decimal() ?? 0) > 0
    }

    /// The number that the next file opened by the process will get.
    package func lowestFreeDescriptor() -> Int32 {
        let open = FirstThread.orAnother(of: pid) { tid -> Set<Int32>? in
            let numbers = Self.numbers(in: "/proc/\(tid)/fd")
            return numbers.isEmpty ? nil : Set(numbers)
        }
        return (0...).first { open?.contains($0) != true } ?? 0
    }

    /// The numbers of its open files to which the kernel gives this name.
    package func descriptors(of name: String) -> [Int32] {
        FirstThread.orAnother(of: pid) { tid -> [Int32]? in
            let folder = "/proc/\(tid)/fd"
            let numbers = Self.numbers(in: folder)
            if numbers.isEmpty { return nil }
            return numbers.filter { ProgramPath.target(ofLink: "\(folder)/\($0)") == name }
        } ?? []
    }

    /// The names in a folder that are numbers.
    private static func numbers(in path: String) -> [Int32] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var numbers: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name) { numbers.append(number) }
        }
        return numbers
    }
}

/// The privileges that a program's file gives beyond its user's own.
package enum FilePrivileges {
    /// True if a file gives privileges to its user that we do not have.
    package static func areGained(by path: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        guard geteuid() != 0, stat(path, &status) == 0 else { return false }
        let gainsUser = status.st_mode & 0o4000 != 0 && status.st_uid != geteuid()
        let gainsGroup = status.st_mode & 0o2010 == 0o2010 && status.st_gid != getegid()
        return gainsUser || gainsGroup || fl_has_file_capabilities(path) != 0
    }
}

/// Tells which process started which.
package enum Ancestry {
    /// Deeper trees are not climbed: while we look, the kernel may give an id to another process.
    private static let limit = 64

    /// True if a process is another one or descends from it; nil: it is gone, or an ancestor is.
    ///
    /// - Parameter parent: gives a process's parent; nil when the process is gone.
    package static func isWithin(
        _ pid: Int32, _ root: Int32, parent: (Int32) -> Int32? = Ancestry.parent(of:)
    ) -> Bool? {
        var current = pid
        for _ in 0..<limit {
            if current == root { return true }
            if current <= 1 { return false }
            guard let next = parent(current) else { return nil }
            current = next
        }
        return false
    }

    package static func parent(of pid: Int32) -> Int32? {
        ProcessFiles(pid: pid).status("PPid:").flatMap { Int32(exactly: $0) }
    }
}

/// Tells how old a process is: a file made before a process began does not belong to it.
package enum ProcessAge {
    /// When a process began, in seconds since 1970, at most two seconds early; nil: it is gone.
    package static func start(of pid: Int32) -> Int? {
        guard let stat = ProcessFiles(pid: pid).stat() else { return nil }
        var (machine, now) = (timespec(), timespec())
        clock_gettime(CLOCK_BOOTTIME, &machine)
        clock_gettime(CLOCK_REALTIME, &now)
        let ticks = max(1, sysconf(Int32(_SC_CLK_TCK)))
        let age = machine.tv_sec - Int(clamping: stat.startTicks) / ticks
        return now.tv_sec - age - 1
    }
}

/// The namespace of process ids that we live in.
package enum ProcessIDNamespace {
    /// True if we see other process ids than the whole machine has; nil: unknown.
    package static var isOwn: Bool? { name.map { $0 != initial } }

    /// `PROC_PID_INIT_INO` of the kernel's proc_ns.h: the machine's own process ids.
    private static let initial = "pid:[4026531836]"

    private static var name: String? {
        var target = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/self/ns/pid", &target, target.count)
        return length > 0 ? String(decoding: target.prefix(length), as: UTF8.self) : nil
    }
}
