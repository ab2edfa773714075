import CSystem
import Glibc
import ProfileModel

/// What `/proc` tells of a process as a whole, read when it is needed.
struct ProcessFiles: Sendable {
    let pid: Int32

    /// The totals at a phase's border; nil where unreadable.
    func counters() -> ProcessCounters {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/stat")
        let stat = ProcessStat(buffer.text)
        buffer.readAll(path: "/proc/\(pid)/io")
        return ProcessCounters(
            minorFaults: stat?.minorFaults, majorFaults: stat?.majorFaults,
            readBytes: ProcFormats.field("read_bytes:", buffer.text))
    }

    func stat() -> ProcessStat? {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/stat")
        return ProcessStat(buffer.text)
    }

    /// A line of `status`, e.g. `Uid:`.
    func status(_ name: StaticString) -> Int64? {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(pid)/status")
        return ProcFormats.field(name, buffer.text)
    }

    /// The program that runs now, and its arguments.
    func image(at time: MonotonicTime) -> Image {
        let executable = ProgramPath.target(ofLink: "/proc/\(pid)/exe")
        var buffer = ReadBuffer()
        buffer.readArguments(of: pid)
        let arguments = buffer.contents.split(separator: 0, omittingEmptySubsequences: false)
            .dropLast().map { String(decoding: $0, as: UTF8.self) }
        let path = ProgramPath.started(
            pid: pid, executable: executable, firstArgument: arguments.first ?? "")
        return Image(path: path, arguments: Array(arguments), time: time)
    }

    /// Whether its ids are ours.
    var sharesNamespaceWithUs: Bool {
        func namespace(_ process: String) -> [UInt8] {
            var target = [UInt8](repeating: 0, count: 64)
            let length = readlink("/proc/\(process)/ns/pid", &target, target.count)
            return Array(target.prefix(max(0, length)))
        }
        let own = namespace("self")
        return !own.isEmpty && own == namespace("\(pid)")
    }

    /// Whether its program's file gives privileges that it would have without us: who has got them
    /// cannot be read by us.
    var lacksPrivileges: Bool {
        let path = "/proc/\(pid)/exe"
        var system = statvfs()
        return ProgramLookup.gainsPrivileges(path) && status("NoNewPrivs:") != 1
            && statvfs(path, &system) == 0 && system.f_flag & UInt(ST_NOSUID) == 0
    }

    /// CPU time of all its threads, those that ended included; nil when it is gone.
    var cpuTime: TimeSpan? {
        let time = fl_process_cpu_ns(pid)
        return time < 0 ? nil : TimeSpan(nanoseconds: time)
    }

    /// CPU time of the children that it has waited for, and theirs; nil when it is gone.
    var childrenCPU: TimeSpan? {
        let ticksPerSecond = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
        return stat().map {
            TimeSpan(nanoseconds: $0.childrenTicks &* (1_000_000_000 / ticksPerSecond))
        }
    }

    /// Whether another process has the same memory. Where the kernel does not compare, a child may.
    var sharesMemory: Bool {
        Self.numbers(in: "/proc").contains { other in
            guard other != pid else { return false }
            let answer = fl_shares_memory(pid, other)
            return answer == 1 || (answer == -ENOSYS && Ancestry.parent(of: other) == pid)
        }
    }

    func threadIDs() -> [Int32] { numbers(in: "task").filter { $0 > 0 } }

    /// Under which number it will open its next file.
    func lowestFreeDescriptor() -> Int32 {
        let open = Set(numbers(in: "fd"))
        return (0...).first { !open.contains($0) } ?? 0
    }

    /// The names in one of its folders that are numbers.
    private func numbers(in folder: String) -> [Int32] {
        Self.numbers(in: "/proc/\(pid)/\(folder)")
    }

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
