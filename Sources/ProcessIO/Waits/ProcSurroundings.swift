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
