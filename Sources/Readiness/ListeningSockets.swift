import CSystem
import Glibc
import ProcessIO
import ProfileModel

/// The sockets on which connections are accepted.
///
/// The kernel lists only these sockets (sock_diag(7), 10 to 20 µs for each kind).
/// `/proc/PID/net/tcp` took 5 ms on a quiet machine, because the kernel walks the whole table of
/// connections. We use it only for processes in another network namespace.
package final class ListeningSockets {
    private let port: UInt16?
    /// -1: not available.
    private let diagnosis: Int32
    private let ownNamespace = ListeningSockets.namespace(of: "self")
    private var buffer = [fl_listener](repeating: fl_listener(), count: 256)

    /// - Parameter port: only TCP sockets at this port; nil: all, also those of the Unix domain.
    package init(port: UInt16?) {
        self.port = port
        diagnosis = fl_diagnosis_open()
    }

    deinit { if diagnosis >= 0 { close(diagnosis) } }

    /// True if any of a process's sockets accepts connections.
    package func containsAny(of sockets: [ProcessSockets.Socket], pid: Int32) -> Bool {
        SocketFamily.allCases.contains { family in
            let inodes = Set(sockets.filter { $0.family == family }.map(\.inode))
            guard !inodes.isEmpty, port == nil || family != .unix else { return false }
            return list(family, pid).contains { socket in
                inodes.contains(socket.inode) && (port == nil || socket.port == port)
            }
        }
    }

    private func list(_ family: SocketFamily, _ pid: Int32) -> [(inode: UInt64, port: UInt16)] {
        if diagnosis >= 0, Self.namespace(of: "\(pid)") == ownNamespace,
            let found = ask(for: family)
        {
            return found
        }
        var text = ReadBuffer()
        switch family {
        case .tcp: text.readAll(path: "/proc/\(pid)/net/tcp")
        case .tcp6: text.readAll(path: "/proc/\(pid)/net/tcp6")
        case .unix:
            text.readAll(path: "/proc/\(pid)/net/unix")
            return SocketFormats.listeningUnix(text.text).map { ($0, 0) }
        }
        return SocketFormats.listeningTCP(text.text)
    }

    /// nil if the kernel does not answer.
    private func ask(for family: SocketFamily) -> [(inode: UInt64, port: UInt16)]? {
        while true {
            let count = Int(fl_listeners(diagnosis, family.code, &buffer, Int32(buffer.count)))
            guard count >= 0 else { return nil }
            if count <= buffer.count {
                return buffer[..<count].map { (UInt64($0.inode), $0.port) }
            }
            buffer += [fl_listener](repeating: fl_listener(), count: count)
        }
    }

    private static func namespace(of process: String) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: 64)
        let length = readlink("/proc/\(process)/ns/net", &target, target.count)
        return Array(target.prefix(max(0, length)))
    }
}
