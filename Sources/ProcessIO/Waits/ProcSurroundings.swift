import CSystem
import Glibc
import ProfileModel

/// A waiting thread's surroundings, read from `/proc` and the kernel.
package struct ProcSurroundings: WaitSurroundings {
    package let pid: Int32
    package let tid: Int32
    package let isUninterruptible: Bool

    package func memory(at address: UInt64, count: Int) -> [UInt8] {
        // By the thread's own id: the process's first thread may have ended, and then has no
        // memory.
        TargetMemory(pid: tid).read(at: address, count: count)
    }

    package func thread(_ inner: Int32) -> Int32? { InnerNames(pid: pid).thread(inner) }
    package func child(_ inner: Int32) -> Int32? { InnerNames(pid: pid).child(inner) }

    package var isStopped: Bool {
        KernelThread(process: pid, tid: tid).state() == UInt8(ascii: "T")
    }

    package var isFrozen: Bool {
        func text(_ path: String) -> String {
            var buffer = ReadBuffer()
            buffer.readAll(path: path)
            return String(decoding: buffer.contents, as: UTF8.self)
        }
        return ControlGroupFreezer.ofThisSystem.isFrozen(
            groups: text("/proc/\(pid)/task/\(tid)/cgroup"), read: text)
    }

    package func link(of descriptor: Int32) -> String? {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(path(of: descriptor), &target, target.count)
        return length > 0 ? String(decoding: target.prefix(length), as: UTF8.self) : nil
    }

    package func isNamedPipe(_ descriptor: Int32) -> Bool { fl_is_pipe(path(of: descriptor)) == 1 }

    package func socket(_ descriptor: Int32) -> SocketEnds? {
        var ends = fl_socket_ends()
        guard fl_socket_ends(pid, descriptor, &ends) == 0 else { return nil }
        let local = withUnsafeBytes(of: ends.local) { Array($0.prefix(Int(ends.local_size))) }
        let peer = withUnsafeBytes(of: ends.peer) { Array($0.prefix(Int(ends.peer_size))) }
        return SocketEnds(
            isListening: ends.is_listening != 0, local: SocketAddress(local),
            peer: SocketAddress(peer))
    }

    package func information(on descriptor: Int32) -> ProcText? {
        contents("\(tid)/fdinfo/\(descriptor)")
    }

    package var children: [Int32]? { ProcessFiles(pid: pid).children }

    package func command(of process: Int32) -> [String]? {
        guard process > 0, let stat = ProcessFiles(pid: process).stat(), !stat.hasOnlyForked,
            let bytes = buffer("\(process)/cmdline")?.contents
        else { return nil }
        // Each word ends in 0, except perhaps the last one of a truncated text.
        let ended = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        let words = ended.split(separator: 0, omittingEmptySubsequences: false)
        guard let name = words.first, !name.isEmpty else { return nil }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    private func path(of descriptor: Int32) -> String { "/proc/\(tid)/fd/\(descriptor)" }

    private func contents(_ path: String) -> ProcText? { buffer(path)?.text }

    /// As much of a file as one read returns; nil if it cannot be read.
    private func buffer(_ path: String) -> ReadBuffer? {
        guard let file = ProcFile("/proc/" + path) else { return nil }
        var buffer = ReadBuffer()
        file.read(into: &buffer)
        return buffer
    }
}

/// True if a thread's control group keeps it from running, as a paused container's does:
/// cgroups(7).
package struct ControlGroupFreezer {
    /// Where the hierarchies are mounted, each with the part of it that is mounted there.
    private var version1: [Mount] = []
    private var version2: [Mount] = []

    private struct Mount: Hashable {
        var top: String
        var place: String
    }

    /// - Parameter mounts: the text of /proc/self/mountinfo.
    package init(mounts: String) {
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count > dash + 3 else {
                continue
            }
            let mount = Mount(top: fields[3], place: fields[4])
            if fields[dash + 1] == "cgroup2" {
                version2.append(mount)
            } else if fields[dash + 1] == "cgroup",
                fields[dash + 3].split(separator: ",").contains("freezer")
            {
                version1.append(mount)
            }
        }
    }

    /// The hierarchies as the recorder finds them.
    package static let ofThisSystem: ControlGroupFreezer = {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/self/mountinfo", limit: 1 << 20)
        return ControlGroupFreezer(mounts: String(decoding: buffer.contents, as: UTF8.self))
    }()

    /// - Parameters:
    ///   - groups: the text of /proc/PID/task/TID/cgroup.
    ///   - read: a file's text; empty if it cannot be read.
    package func isFrozen(groups: String, read: (String) -> String) -> Bool {
        groups.split(separator: "\n").contains { line in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return false }
            if parts[0] == "0", parts[1].isEmpty {
                return version2.contains { mount in
                    read(Self.folder(of: parts[2], mount) + "/cgroup.events")
                        .split(separator: "\n").contains("frozen 1")
                }
            }
            guard parts[1].split(separator: ",").contains("freezer") else { return false }
            return version1.contains { mount in
                read(Self.folder(of: parts[2], mount) + "/freezer.state").hasPrefix("FROZEN")
            }
        }
    }

    private static func folder(of group: Substring, _ mount: Mount) -> String {
        // Only a part of the hierarchy may be mounted, as in containers.
        guard mount.top != "/", group.hasPrefix(mount.top) else { return mount.place + group }
        return mount.place + group.dropFirst(mount.top.count)
    }
}
