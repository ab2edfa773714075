import CSystem
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Readiness
@testable import Sampler

/// A compositor that understands nothing: the test has its ends of the connections.
final class MadeCompositor {
    let path: String
    private let scratch: Scratch
    private var listener: Int32
    /// Where the last relay listens.
    private(set) var relayPath = ""

    init() throws {
        scratch = try Scratch()
        path = scratch.path("wayland-9")
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = try MadeEnd.withAddress(of: path) { bind(listener, $0, $1) }
        try #require(code == 0 && listen(listener, 8) == 0)
    }

    deinit { stop() }

    /// Stops listening.
    func stop() {
        if listener >= 0 { close(listener) }
        listener = -1
    }

    /// A relay in a folder beside the compositor's socket; its address is in the variables, as for
    /// a program.
    func relay() throws -> WaylandRelay {
        let variables = ["XDG_RUNTIME_DIR": scratch.folder, "WAYLAND_DISPLAY": "wayland-9"]
        let found = try WaylandDisplay { variables[$0] }
        let target = try #require(found)
        try target.reach()
        // That connection has no client.
        try accept().close()
        var setting = ProgramSetting()
        let relay = try WaylandRelay(to: target, setting: &setting)
        relayPath = try #require(setting.variables["WAYLAND_DISPLAY"])
        return relay
    }

    func relayedClient() throws -> (relay: WaylandRelay, client: MadeEnd) {
        let relay = try relay()
        return (relay, try connect(through: relay))
    }

    func connect(through relay: WaylandRelay) throws -> MadeEnd {
        try MadeEnd(connectingTo: relayPath)
    }

    /// The next connection.
    func accept() throws -> MadeEnd {
        var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        try #require(poll(&entry, 1, 30_000) == 1)
        return MadeEnd(Glibc.accept(listener, nil, nil))
    }
}

/// One end of a connection. Used by one thread at a time and direction.
final class MadeEnd: @unchecked Sendable {
    private(set) var descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    init(connectingTo path: String) throws {
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = try Self.withAddress(of: path) { connect(made, $0, $1) }
        try #require(code == 0)
        descriptor = made
    }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    static func withAddress(
        of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// The process that connected it.
    var peer: Int32 {
        var credentials = (pid: Int32(0), user: UInt32(0), group: UInt32(0))
        var size = socklen_t(12)
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
        return credentials.pid
    }

    /// The other side has closed its end, not only stopped to write.
    var isHungUp: Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
    }

    /// All of it, with descriptors beside the first byte.
    func send(_ bytes: [UInt8], with descriptors: [Int32] = []) -> Bool {
        var rest = bytes[...]
        if !descriptors.isEmpty {
            let sent = Array(rest).withUnsafeBytes {
                sendMessage(descriptor, $0.baseAddress, $0.count, descriptors)
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    /// All of it or nothing, without waiting.
    func sendNow(_ bytes: [UInt8]) -> Int {
        max(0, Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
    }

    /// As many bytes, or what there is before the end.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let (part, files) = try receive(count - bytes.count)
            #expect(files.isEmpty)
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }

    /// The bytes that come together, up to `count`.
    func receive(_ count: Int) throws -> (bytes: [UInt8], files: [MadeFile]) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(poll(&entry, 1, 30_000) == 1)
        return receiveMessage(descriptor, count)
    }
}

/// A file in memory with a text.
final class MadeFile {
    let descriptor: Int32

    init(_ text: String) throws {
        descriptor = fl_make_memory("test", text.utf8.count)
        try #require(descriptor >= 0)
        #expect(pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count)
    }

    init(taking descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    var contents: String {
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

// MARK: Control messages, whose macros Swift cannot see

/// Length, SOL_SOCKET and SCM_RIGHTS: a struct cmsghdr.
private let controlHeader = 16

private func sendMessage(
    _ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ descriptors: [Int32]
) -> Int {
    let length = controlHeader + 4 * descriptors.count
    var control = [UInt64](repeating: 0, count: (length + 7) / 8)
    var part = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes), iov_len: count)
    return control.withUnsafeMutableBytes { memory in
        memory.storeBytes(of: UInt64(length), as: UInt64.self)
        memory.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
        memory.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
        for (index, descriptor) in descriptors.enumerated() {
            memory.storeBytes(
                of: descriptor, toByteOffset: controlHeader + 4 * index, as: Int32.self)
        }
        return withUnsafeMutablePointer(to: &part) { part in
            var message = msghdr()
            message.msg_iov = part
            message.msg_iovlen = 1
            message.msg_control = memory.baseAddress
            message.msg_controllen = memory.count
            return sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
        }
    }
}

private func receiveMessage(_ socket: Int32, _ count: Int) -> ([UInt8], [MadeFile]) {
    var bytes = [UInt8](repeating: 0, count: count)
    var control = [UInt64](repeating: 0, count: 2 + 127 + 2)
    var files: [MadeFile] = []
    let received = bytes.withUnsafeMutableBytes { buffer in
        control.withUnsafeMutableBytes { memory in
            var part = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
            return withUnsafeMutablePointer(to: &part) { part in
                var message = msghdr()
                message.msg_iov = part
                message.msg_iovlen = 1
                message.msg_control = memory.baseAddress
                message.msg_controllen = memory.count
                let received = recvmsg(socket, &message, Int32(MSG_CMSG_CLOEXEC))
                guard message.msg_controllen >= controlHeader else { return received }
                let length = Int(memory.load(as: UInt64.self))
                for offset in stride(from: controlHeader, to: length, by: 4) {
                    let number = memory.load(fromByteOffset: offset, as: Int32.self)
                    files.append(MadeFile(taking: number))
                }
                return received
            }
        }
    }
    return (Array(bytes.prefix(max(0, received))), files)
}
