package import CSystem
import Glibc

/// The stream sockets that a process has open.
package struct ProcessSockets {
    package struct Socket: Hashable {
        /// The number by which `/proc` and the kernel's socket tables name the socket.
        package var inode: UInt64
        package var family: SocketFamily
    }

    package let pid: Int32
    /// In the order of the descriptors; nil: another kind of file.
    private var known: [(descriptor: Int32, socket: Socket?)] = []
    private var round = 0
    private let folder: String

    /// nil if the process's descriptors may not be read.
    package init?(pid: Int32) {
        self.pid = pid
        folder = "/proc/\(pid)/fd"
        guard access(folder, R_OK) == 0 else { return nil }
    }

    var open: [Socket] { known.compactMap(\.socket) }

    /// Each descriptor is looked at again after this many looks: it may have been closed, and its
    /// number reused for another file.
    private static let turns = 16

    /// Looks at every descriptor.
    package mutating func relist() {
        known = []
        known = list()
    }

    /// True if something may have changed since the last call.
    package mutating func refresh() -> Bool {
        round = (round + 1) % Self.turns
        // Linux 6.2 and later report the number of descriptors (2 µs instead of 10 to 20).
        var status = stat()
        if round % 4 != 0, stat(folder, &status) == 0, status.st_size > 0,
            Int(status.st_size) == known.count
        {
            return false
        }
        known = list()
        return true
    }

    private func list() -> [(descriptor: Int32, socket: Socket?)] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var current: [(descriptor: Int32, socket: Socket?)] = []
        current.reserveCapacity(known.count + 8)
        // Both lists ascend.
        var rest = known[...]
        while let entry = readdir(stream) {
            let number = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    name.pointee == CChar(bitPattern: UInt8(ascii: ".")) ? -1 : atoi(name)
                }
            }
            guard number >= 0 else { continue }
            rest = rest.drop { $0.descriptor < number }
            if let file = rest.first, file.descriptor == number, !isDue(number) {
                current.append(file)
            } else {
                current.append((number, socket(at: number)))
            }
        }
        return current
    }

    private func isDue(_ number: Int32) -> Bool {
        Int(number) % (Self.turns / 4) == round / 4
    }

    private func socket(at number: Int32) -> Socket? {
        let path = "\(folder)/\(number)"
        var target = [UInt8](repeating: 0, count: 64)
        let length = readlink(path, &target, target.count)
        guard let inode = SocketFormats.inode(ofLink: target.prefix(max(0, length))),
            let family = SocketFamily(fl_socket_family(path))
        else { return nil }
        return Socket(inode: inode, family: family)
    }
}

/// The kinds of sockets on which connections can be accepted.
package enum SocketFamily: CaseIterable {
    case tcp, tcp6, unix

    package init?(_ code: Int32) {
        switch code {
        case Int32(fl_tcp.rawValue): self = .tcp
        case Int32(fl_tcp6.rawValue): self = .tcp6
        case Int32(fl_unix.rawValue): self = .unix
        default: return nil
        }
    }

    package var code: fl_socket_family {
        switch self {
        case .tcp: fl_tcp
        case .tcp6: fl_tcp6
        case .unix: fl_unix
        }
    }
}
